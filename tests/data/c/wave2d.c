/* Second order wave equation: prev, now, next. One step; the caller rotates the buffers. */
// expect: verified
void wave_step(int h, int w, float courant2, const float *prev, const float *now, float *next)
{
    int i, j;
    for (j = 1; j <= h - 2; ++j)
        for (i = 1; i <= w - 2; ++i)
        {
            int at = j * w + i;
            float lap = now[at - 1] + now[at + 1] + now[at - w] + now[at + w] - 4.0f * now[at];
            next[at] = 2.0f * now[at] - prev[at] + courant2 * lap;
        }
}

/* The string version keeps its own time loop and rotates three buffers. */
// cudaperf: assume n >= 2
// expect: verified
void wave_string(int n, int steps, double c2, double *a, double *b, double *c)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            c[i] = 2 * b[i] - a[i] + c2 * (b[i - 1] - 2 * b[i] + b[i + 1]);
        double *oldest = a;
        a = b;
        b = c;
        c = oldest;
    }
}
