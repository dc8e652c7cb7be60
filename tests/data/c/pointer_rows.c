/* Rows wherever the allocator put them. */
// expect: refused code=unsupported line=5
// expect: refused code=unbounded line=5
// expect: refused code=unsupported line=9
void add_matrices(double **a, double **b, int n, int m)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] += b[i][j];
}
