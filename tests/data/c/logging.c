#include <stdio.h>

// expect: refused code=side_effect line=9 mentions="printf"
void scale_verbose(double *x, int n, double f)
{
    for (int i = 0; i < n; i++) {
        x[i] *= f;
        if (x[i] > 1e6)
            printf("x[%d] = %g\n", i, x[i]);
    }
}
