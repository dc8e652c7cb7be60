/* A missing neighbour is -1. */
// expect: verified
void gather_or_zero(int n, const int *from, const double *table, double *out)
{
    for (int i = 0; i < n; i++) {
        int k = from[i];
        if (k < 0) {
            out[i] = 0.0;
            continue;
        }
        out[i] = table[k];
    }
}
