#include <stddef.h>

/* Weighted sum, with the checks that a library's entry point has. */
// expect: verified strategy=reduction
double weighted_sum(const double *x, const double *weight, size_t n)
{
    double sum = 0.0;

    if (x == NULL || weight == NULL || n == 0)
        return 0.0;
    for (size_t i = 0; i < n; i++)
        sum += weight[i] * x[i];
    return sum;
}
