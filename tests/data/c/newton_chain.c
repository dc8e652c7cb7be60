#include <math.h>

/* The start value of every solve is the solution of the one before (warm start). */
// expect: refused code=dependence line=11
void warm_started_roots(int n, const double *c, double *root)
{
    double guess = 1.0;
    for (int i = 0; i < n; i++) {
        const double target = fabs(c[i]) + 1.0;
        for (int k = 0; k < 4; k++)
            guess = 0.5 * (guess + target / guess);
        root[i] = guess;
    }
}
