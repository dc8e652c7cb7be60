/* Overlapping move within one array. */
// expect: refused code=dependence line=6
void shift(int n, int k, double *a)
{
    for (int i = 0; i < n; i++)
        a[i] = a[i + k];
}

/* The caller promises that the source lies behind the target. */
// cudaperf: assume k >= n, n >= 0
// expect: verified
void shift_far(int n, int k, double *a)
{
    for (int i = 0; i < n; i++)
        a[i] = a[i + k];
}
