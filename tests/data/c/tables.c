/* Small tables that functions keep to themselves. */

/* A symmetric filter of five taps. */
// expect: verified
void low_pass(const double *x, double *y, int n)
{
    const double tap[5] = {0.0625, 0.25, 0.375, 0.25, 0.0625};
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int k = 0; k < 5; k++)
            s += tap[k] * x[i + k];
        y[i] = s;
    }
}

/* Days since the start of the year, of months numbered from 0. */
// cudaperf: assume n >= 1
// expect: verified
long days_in_all(int n, const unsigned char *month)
{
    int before[16] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    long days = 0;
    for (int i = 0; i < n; i++)
        days += before[month[i] & 15];
    return days;
}
