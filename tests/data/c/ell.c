// ELLPACK, column-major slots so that neighbouring rows are neighbours in memory; empty slots hold value 0.
// expect: verified
void spmv_ell(int rows, int width, const int *cols, const float *vals, const float *x, float *y)
{
    for (int r = 0; r < rows; r++) {
        float s = 0.0f;
        for (int k = 0; k < width; k++)
            s += vals[k * rows + r] * x[cols[k * rows + r]];
        y[r] = s;
    }
}
