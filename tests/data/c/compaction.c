/* Keeps the positive ones; where the next goes depends on all before it. */
// expect: refused code=dependence line=10
// expect: refused code=dependence line=9
int keep_positive(const float *in, float *out, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (in[i] > 0.0f) {
            out[kept] = in[i];
            kept++;
        }
    return kept;
}
