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
