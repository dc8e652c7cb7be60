/* Standard score: three loops that hand scalars to each other; the spread is returned. */
#include <math.h>

// cudaperf: assume n >= 2
// expect: verified
double standardise(double *x, int n)
{
    double mean = 0.0;
    for (int i = 0; i < n; i++)
        mean += x[i];
    mean /= n;

    double var = 0.0;
    for (int i = 0; i < n; i++) {
        x[i] -= mean;
        var += x[i] * x[i];
    }
    const double sd = sqrt(var / (n - 1)) + 1e-12;

    for (int i = 0; i < n; i++)
        x[i] /= sd;
    return sd;
}
