/* Dynamic programming table; each cell needs its left, upper and diagonal neighbour. */
// cudaperf: assume n >= 0, m >= 0
// expect: verified strategy=wavefront
// expect: refused code=dependence line=14
void edit_table(int n, int m, const char a[n], const char b[m], int d[n + 1][m + 1])
{
    for (int i = 0; i <= n; i++)
        d[i][0] = i;
    for (int j = 0; j <= m; j++)
        d[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int replace = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            int remove = d[i - 1][j] + 1, insert = d[i][j - 1] + 1;
            int best = replace < remove ? replace : remove;
            d[i][j] = best < insert ? best : insert;
        }
}
