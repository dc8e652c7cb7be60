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
