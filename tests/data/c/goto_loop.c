// expect: refused code=unsupported line=6 mentions="goto"
int checked_sqrt_sum(const double *x, double *out, int n)
{
    for (int i = 0; i < n; i++) {
        if (x[i] < 0.0)
            goto fail;
        out[i] = x[i] * 2.0;
    }
    return 0;
fail:
    return -1;
}
