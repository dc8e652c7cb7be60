/* Compressed sparse rows. */
// expect: verified
void spmv_csr(int n, const int *rowptr, const int *col, const double *val, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int k = rowptr[i]; k < rowptr[i + 1]; k++)
            s += val[k] * x[col[k]];
        y[i] = s;
    }
}

/* number of stored entries a row */
// expect: verified strategy=map
void row_lengths(int n, const int *rowptr, int *length)
{
    for (int i = 0; i < n; i++)
        length[i] = rowptr[i + 1] - rowptr[i];
}
