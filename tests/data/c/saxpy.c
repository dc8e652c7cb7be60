// The same loop for three types.

// expect: verified strategy=map
void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

// expect: verified strategy=map
void daxpy(int n, double a, const double *x, double *y)
{
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

// expect: verified strategy=map
void iaxpy(int n, int a, const int *x, int *y)
{
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}
