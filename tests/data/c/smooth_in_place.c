/* The author forgot the second buffer, and ships it. The clamp makes it nonlinear. */
#include <math.h>

// expect: refused code=dependence line=8 mentions="written by the previous iteration"
void smooth(int n, double *a, const double *b)
{
    for (int i = 1; i < n; i++)
        a[i] = fabs(a[i - 1]) * 0.5 + b[i];
}
