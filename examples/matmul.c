/* C = A B with arrays of variable size. */

void matmul(int n, int m, int k, double C[n][m], double A[n][k], double B[k][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double sum = 0.0;
            for (int p = 0; p < k; p++)
                sum += A[i][p] * B[p][j];
            C[i][j] = sum;
        }
}
