// Products with an upper triangular matrix.

// y = U x, U stored full, entries below the diagonal never read
// expect: verified
void trmv_upper(int n, const float U[n][n], const float x[n], float y[n])
{
    for (int i = 0; i < n; i++)
    {
        float sum = 0.0f;
        for (int j = i; j < n; j++)
        {
            sum += U[i][j] * x[j];
        }
        y[i] = sum;
    }
}

// C = U B
// expect: verified
void trmm_upper(int n, int m, const float U[n][n], const float B[n][m], float C[n][m])
{
    for (int i = 0; i < n; i++)
    {
        for (int j = 0; j < m; j++)
        {
            float sum = 0.0f;
            for (int k = i; k < n; k++)
            {
                sum += U[i][k] * B[k][j];
            }
            C[i][j] = sum;
        }
    }
}
