typedef struct complex_s {
    double re;
    double im;
} cplx;

static inline cplx cmul(cplx a, cplx b)
{
    cplx r = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return r;
}

// expect: verified
void multiply_spectra(cplx *a, const cplx *b, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = cmul(a[i], b[i]);
}

/* |a|^2, summed */
// expect: verified
double power(const cplx *a, int n)
{
    double p = 0;
    for (int i = 0; i < n; i++)
        p += a[i].re * a[i].re + a[i].im * a[i].im;
    return p;
}
