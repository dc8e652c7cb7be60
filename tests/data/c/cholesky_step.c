/* One right-looking step of Cholesky at column k: the pivot is already its square root. */

// cudaperf: assume k >= 0, k < n
// expect: verified
void cholesky_step(int n, int k, double a[n][n])
{
    for (int i = k + 1; i < n; i++)
        a[i][k] /= a[k][k];
    for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j <= i; j++)
            a[i][j] -= a[i][k] * a[j][k];
}
