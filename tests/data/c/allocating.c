#include <stdlib.h>

struct row {
    double value;
};

// expect: refused code=side_effect line=12 mentions="malloc"
// expect: refused code=unsupported line=12
void copy_each(struct row **out, const double *in, int n)
{
    for (int i = 0; i < n; i++) {
        out[i] = malloc(sizeof **out);
        if (out[i])
            out[i]->value = in[i];
    }
}
