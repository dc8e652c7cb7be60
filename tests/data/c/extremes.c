#include <float.h>

// cudaperf: assume n >= 1
// expect: verified
void min_max(const float *x, int n, float *lowest, float *highest)
{
    float lo = x[0], hi = x[0];
    for (int i = 1; i < n; i++) {
        if (x[i] < lo) lo = x[i];
        if (x[i] > hi) hi = x[i];
    }
    *lowest = lo;
    *highest = hi;
}

/* First position of the largest element. */
// cudaperf: assume n >= 1
// expect: verified
int argmax(const double *x, int n)
{
    double top = x[0];
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > top) {
            top = x[i];
            best = i;
        }
    return best;
}

/* The same, the way it is often written: the best so far is read through its index. */
// cudaperf: assume n >= 1, extent(x) == n
// expect: verified strategy=reduction
// expect: refused code=dependence line=39
int argmin_by_index(int n, const float *x)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] < x[best])
            best = i;
    return best;
}

// expect: verified strategy=reduction
double peak(int n, const double *x)
{
    double m = -DBL_MAX;
    for (int i = 0; i < n; i++)
        m = x[i] > m ? x[i] : m;
    return m;
}
