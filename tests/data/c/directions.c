#include <stddef.h>

/* The same work counted in several ways. */

// expect: verified
void reverse_copy(int n, const double *in, double *out)
{
    for (int i = n - 1; i >= 0; i--)
        out[n - 1 - i] = in[i];
}

// expect: verified
void fill_ramp(size_t n, double first, double step, double *out)
{
    for (size_t i = 0; i != n; ++i)
        out[i] = first + step * (double)i;
}

// expect: verified
void one_based(int n, const float *restrict a, float *restrict b)
{
    for (int i = 1; i <= n; i++)
        b[i - 1] = a[i - 1] * i;
}

// expect: verified
void every_third(unsigned n, const int *in, int *out)
{
    for (unsigned i = 0; i < n; i += 3)
        out[i / 3] = in[i];
}

// expect: verified strategy=map
void fill_backwards(long n, long *y)
{
    for (long i = n - 1; i >= 0; i--)
        y[i] = i;
}

// expect: verified strategy=map
void every_third_long(long n, const double *restrict x, double *restrict y)
{
    for (long i = 0; i < n; i += 3)
        y[i] = 2 * x[i];
    for (long i = n - 1; i >= 0; i -= 2)
        y[i] += 1;
}
