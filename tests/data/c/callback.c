typedef double (*unary)(double);

// expect: refused code=unsupported line=8
// expect: refused code=side_effect line=8
void apply(unary f, const double *in, double *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = f(in[i]);
}
