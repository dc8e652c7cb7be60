/* Accumulates through pointers, as callers of older interfaces like it. */
// expect: verified strategy=reduction
void add_to_total(int n, const double *x, double *total)
{
    for (int i = 0; i < n; i++)
        *total += x[i];
}

// cudaperf: assume n >= 1
// expect: verified strategy=reduction
void stats(int n, const float *x, float *mean, float *variance)
{
    *mean = 0;
    *variance = 0;
    for (int i = 0; i < n; i++)
        *mean += x[i];
    *mean /= n;
    for (int i = 0; i < n; i++)
        *variance += (x[i] - *mean) * (x[i] - *mean);
    *variance /= n;
}

// cudaperf: assume bin >= 0
// expect: verified strategy=reduction
void add_row_sums(int rows, int cols, const int *a, int bin, int *sums)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            sums[bin] += a[r * cols + c];
}
