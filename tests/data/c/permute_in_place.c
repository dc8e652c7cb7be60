/* Wrong as a permutation, but this is what it does: later reads see earlier writes. */
// expect: refused code=dependence line=6
void permute_in_place(int n, const int *p, double *a)
{
    for (int i = 0; i < n; i++)
        a[i] = 0.5 * a[p[i]];
}
