/* "target is a permutation", says the manual; the code does not. */
// expect: refused code=dependence line=6
void scatter(int n, const int *target, const double *in, double *out)
{
    for (int i = 0; i < n; i++)
        out[target[i]] = in[i];
}
