#include <stddef.h>

/*
 * C := alpha*A*B + beta*C for row-major, densely packed matrices.
 *   A is m x k, B is k x n, C is m x n.
 */
// expect: verified strategy=contraction
void dgemm_small(int m, int n, int k, double alpha, const double *restrict A, const double *restrict B, double beta,
                 double *restrict C)
{
    int i, j, l;

    for (i = 0; i < m; i++) {
        for (j = 0; j < n; j++) {
            double acc = 0.0;

            for (l = 0; l < k; l++)
                acc += A[i * k + l] * B[l * n + j];
            C[i * n + j] = alpha * acc + beta * C[i * n + j];
        }
    }
}
