/* Rank-k update of the lower triangle: C := C - A A^T (as a blocked Cholesky does it). */
#define IDX(r, c, ld) ((r) * (ld) + (c))

// expect: verified
void syrk_lower(int n, int k, const double *a, double *c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double t = 0.0;
            for (int p = 0; p < k; p++)
                t += a[IDX(i, p, k)] * a[IDX(j, p, k)];
            c[IDX(i, j, n)] -= t;
        }
}
