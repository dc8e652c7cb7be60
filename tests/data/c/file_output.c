#include <stdio.h>

// expect: refused code=side_effect line=9 mentions="fwrite"
size_t save_scaled(FILE *f, const float *x, size_t n, float scale)
{
    size_t done = 0;
    for (size_t i = 0; i < n; i++) {
        float v = x[i] * scale;
        done += fwrite(&v, sizeof v, 1, f);
    }
    return done;
}
