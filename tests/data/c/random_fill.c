#include <stdlib.h>

// expect: refused code=side_effect line=7 mentions="rand"
void jitter(float *x, int n, float amount)
{
    for (int i = 0; i < n; i++)
        x[i] += amount * ((float)rand() / (float)RAND_MAX - 0.5f);
}
