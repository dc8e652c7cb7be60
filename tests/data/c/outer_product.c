#include <stdlib.h>

/* A += alpha * x * y'  with a leading dimension, as BLAS has it (but rows are contiguous). */
// cudaperf: assume lda >= n
// expect: verified strategy=map
void rank_one(size_t m, size_t n, double alpha, const double *x, const double *y, double *a, size_t lda)
{
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            a[i * lda + j] += alpha * x[i] * y[j];
        }
    }
}
