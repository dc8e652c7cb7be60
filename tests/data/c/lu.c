/* In-place LU without pivoting. The k loop has to stay in order; everything below it is parallel. */
// expect: verified
void lu_decompose(int n, double A[n][n])
{
    int i, j, k;
    for (k = 0; k < n; k++) {
        for (i = k + 1; i < n; i++)
            A[i][k] = A[i][k] / A[k][k];
        for (i = k + 1; i < n; i++)
            for (j = k + 1; j < n; j++)
                A[i][j] = A[i][j] - A[i][k] * A[k][j];
    }
}
