#include <math.h>

/* European options, one a row. */
static double norm_cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

static double d1(double s, double k, double t, double r, double v)
{
    return (log(s / k) + (r + 0.5 * v * v) * t) / (v * sqrt(t));
}

// expect: verified strategy=map
void price_calls(int n, const double *spot, const double *strike, const double *years, double rate, double vol, double *call,
                 double *put)
{
    for (int i = 0; i < n; i++) {
        double s = fabs(spot[i]) + 0.01, k = fabs(strike[i]) + 0.01, t = fabs(years[i]) + 0.01;
        double sigma = 0.05 + fabs(vol) / (1.0 + fabs(vol)), r = rate / (1.0 + fabs(rate));
        double a = d1(s, k, t, r, sigma);
        double b = a - sigma * sqrt(t);
        double discounted = k * exp(-r * t);
        call[i] = s * norm_cdf(a) - discounted * norm_cdf(b);
        put[i] = discounted * norm_cdf(-b) - s * norm_cdf(-a);
    }
}
