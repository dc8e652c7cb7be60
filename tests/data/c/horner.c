/* Polynomial of degree d (coefficients from the constant upwards) at n points. */
// cudaperf: assume d >= 0
// expect: verified
void polyval(int n, int d, const double *c, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        double p = c[d];
        for (int k = d - 1; k >= 0; k--)
            p = p * x[i] + c[k];
        y[i] = p;
    }
}
