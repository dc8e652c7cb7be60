/* Two-pass mean and variance, through pointers. */
// cudaperf: assume n >= 1
// expect: verified
void mean_variance(int n, const double *x, double *mean, double *variance)
{
    double s = 0.0, q = 0.0;
    for (int i = 0; i < n; i++)
        s += x[i];
    s /= n;
    for (int i = 0; i < n; i++)
        q += (x[i] - s) * (x[i] - s);
    *mean = s;
    *variance = q / n;
}
