static double gain[64];

void set_gain(int channel, double value) { gain[channel & 63] = value; }

/* The gains live in this file alone; another file can't name them. */
// expect: refused code=unsupported line=10 mentions="gain is static"
void amplify(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] *= gain[i & 63];
}
