// expect: refused code=unsupported line=2 mentions="long double"
void scale_ld(int n, long double *x, long double f)
{
    for (int i = 0; i < n; i++)
        x[i] = x[i] * f;
}
