// arguments: -DREAL=float
#include <math.h>

#ifndef REAL
#error "compile with -DREAL=float or -DREAL=double"
#endif

// expect: verified strategy=map
void sigmoid(int n, const REAL *x, REAL *y)
{
    for (int i = 0; i < n; i++)
        y[i] = (REAL)1 / ((REAL)1 + exp(-x[i]));
}
