/* y = A x + y, row major. */

// expect: verified
void gemv(int m, int n, const double *A, const double *x, double *y)
{
    for (int i = 0; i < m; i++) {
        double s = 0.0;
        for (int j = 0; j < n; j++)
            s += A[i * n + j] * x[j];
        y[i] += s;
    }
}

/* Same product, transposed: x has m elements, y has n. */
// expect: verified
void gemv_t(int m, int n, const double *A, const double *x, double *y)
{
    for (int j = 0; j < n; j++)
        y[j] = 0.0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            y[j] += A[i * n + j] * x[i];
}
