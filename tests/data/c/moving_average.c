/* Trailing mean over `window` samples; out[i] covers x[i] .. x[i + window - 1]. */
// cudaperf: assume window >= 1
// expect: verified
void moving_average(int n, int window, const double *x, double *out)
{
    for (int i = 0; i + window <= n; i++) {
        double s = 0;
        for (int k = 0; k < window; k++)
            s += x[i + k];
        out[i] = s / window;
    }
}
