/* Dead zone and soft clipping. */
// expect: verified
void shape(double *signal, int n, double dead, double top)
{
    for (int i = 0; i < n; i++) {
        if (signal[i] < dead && signal[i] > -dead)
            signal[i] = 0.0;
        else if (signal[i] > top)
            signal[i] = top + (signal[i] - top) / 4;
    }
}

/* writes only where the mask is set */
// expect: verified
void masked_copy(int n, const unsigned char *mask, const int *in, int *out)
{
    for (int i = 0; i < n; i++)
        if (mask[i])
            out[i] = in[i];
}
