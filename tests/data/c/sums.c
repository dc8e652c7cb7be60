/* Reductions that return their value. */

// expect: verified strategy=reduction
double sum(const double *x, int n)
{
    double s = 0.0;
    for (int i = 0; i < n; i++)
        s += x[i];
    return s;
}

// expect: verified strategy=reduction
float dot(const float *a, const float *b, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

// expect: verified strategy=reduction
long count_above(const int *v, long n, int limit)
{
    long hits = 0;
    for (long i = 0; i < n; ++i)
        if (v[i] > limit)
            ++hits;
    return hits;
}

/* ||a - b||^2 */
// expect: verified strategy=reduction
double distance2(int n, const double a[], const double b[])
{
    double d = 0.0;
    for (int i = 0; i < n; i++) {
        double t = a[i] - b[i];
        d += t * t;
    }
    return d;
}
