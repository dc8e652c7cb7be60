static long calls;
static double last_big;

/* Looks harmless where it is used. */
static double watch(double v)
{
    calls++;
    if (v > 1e3)
        last_big = v;
    return v * v;
}

// expect: refused code=side_effect
// expect: refused code=dependence
// expect: refused code=unsupported
void squares(const double *in, double *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = watch(in[i]);
}
