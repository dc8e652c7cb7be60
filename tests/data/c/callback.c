typedef double (*unary)(double);

// expect: refused code=unsupported line=6 mentions="function pointer"
// expect: refused code=unsupported line=9
// expect: refused code=side_effect line=9
void apply(unary f, const double *in, double *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = f(in[i]);
}
