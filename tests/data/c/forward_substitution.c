/* Solves L x = b, one row after the other. */
// expect: refused code=dependence line=8
void forward_substitution(int n, const double *L, const double *b, double *x)
{
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++)
            x[i] -= L[i * n + j] * x[j];
        x[i] /= L[i * n + i];
    }
}
