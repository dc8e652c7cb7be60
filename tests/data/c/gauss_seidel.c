/* In place: every point uses its upper and left neighbour's new values. */
// expect: verified strategy=wavefront
// expect: refused code=dependence line=8
void gauss_seidel(int n, double u[n][n], const double f[n][n], double h2)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - h2 * f[i][j]);
}
