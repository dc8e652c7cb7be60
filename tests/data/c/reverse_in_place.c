/* Pairwise tail exchange: both ends of the array move in every iteration, and meet. */
// expect: verified
void reverse_in_place(int n, double *a)
{
    for (int lo = 0; lo < n / 2; lo++) {
        double t = a[lo];
        a[lo] = a[n - 1 - lo];
        a[n - 1 - lo] = t;
    }
}
