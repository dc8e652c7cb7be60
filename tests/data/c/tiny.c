#define TAPS 8

/* Eight multiplications. */
// expect: refused code=not_profitable line=7
void window_taps(double *taps, const double *window)
{
    for (int i = 0; i < TAPS; i++)
        taps[i] *= window[i];
}

// expect: refused code=no_loop line=12
double hypotenuse2(double a, double b)
{
    return a * a + b * b;
}

/* A filter of three coupled channels: each sample needs the one before. */
// expect: refused code=not_profitable line=21 mentions="at most 3 iterations"
void coupled(int n, double *x, double s)
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < 3; j++)
            x[3 * i + j] = s * x[3 * i + j] + x[3 * (i - 1) + j] * x[3 * (i - 1) + 2 - j];
}
