/* Once the palette had 32 entries, and the bright ones were the upper half. */
static const unsigned short palette[16] = {0, 31, 2016, 2047, 63488, 63519, 65504, 65535, 8, 9, 10, 11, 12, 13, 14, 15};

// expect: refused code=original_fails line=8
void colour(const unsigned char *in, unsigned short *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = palette[16 + (in[i] & 15)];
}

/* One coefficient too many. */
// expect: refused code=original_fails line=19
void weighted(const double *x, double *y, int n)
{
    const double w[4] = {0.1, 0.2, 0.3, 0.4};
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int k = 0; k <= 4; k++)
            s += w[k] * x[i + k];
        y[i] = s;
    }
}

// expect: refused code=original_fails mentions="subscripts of x come from elements of row, of which no assumption can speak: without"
// cudaperf: assume n >= 2, lda >= n
// cudaperf: assume extent(x) == n * lda
void scale_rows(int n, int lda, const int *row, double *x)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[row[i] * lda + j] *= 2.0;
}
