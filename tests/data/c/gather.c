// expect: verified
void gather(int n, const int *index, const double *table, double *out)
{
    for (int i = 0; i < n; i++)
        out[i] = table[index[i]];
}
