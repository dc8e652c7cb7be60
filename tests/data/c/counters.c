/* Positions that are counted along instead of computed from the loop's variable. */

/* All rows, packed one after the other. */
// expect: verified
int pack_columns(double *out, const double *a, int n, int m)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[k++] = a[i * m + j] * 2.0;
    return k;
}

/* A signal and its energy, in blocks of four and what is left. */
// expect: verified
float energy(const float *signal, unsigned count)
{
    float sum = 0.0f;
    unsigned blocks = count >> 2U;
    while (blocks > 0U) {
        sum += signal[0] * signal[0];
        sum += signal[1] * signal[1];
        sum += signal[2] * signal[2];
        sum += signal[3] * signal[3];
        signal += 4;
        blocks--;
    }
    blocks = count & 3U;
    while (blocks > 0U) {
        sum += *signal * *signal;
        signal++;
        blocks--;
    }
    return sum;
}

/* Backwards through one array while going forwards through another. */
// expect: verified
void reversed_gain(float *out, const float *in, float gain, unsigned n)
{
    const float *from = in;
    while (n--)
        out[n] = *from++ * gain;
}
