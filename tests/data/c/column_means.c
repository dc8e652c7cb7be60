// cudaperf: assume n >= 1
// expect: verified
void column_means(int n, int m, double a[n][m], double mean[m])
{
    int i, j;

    for (j = 0; j < m; j++)
        mean[j] = 0.0;
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            mean[j] += a[i][j];
    for (j = 0; j < m; j++)
        mean[j] /= (double)n;
}
