/* Exponential smoothing: linear in the carried value, so a scan can do it, or nobody. */
// expect: verified strategy=scan
// expect: refused code=dependence line=8
void ema(int n, double alpha, const double *x, double *y)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        s = alpha * x[i] + (1.0 - alpha) * s;
        y[i] = s;
    }
}
