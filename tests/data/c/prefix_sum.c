// expect: verified strategy=scan
void running_total(int n, const int *in, int *out)
{
    int total = 0;
    for (int i = 0; i < n; i++) {
        total += in[i];
        out[i] = total;
    }
}

/* exclusive, the way offsets are made */
// expect: verified strategy=scan
void offsets_from_counts(int n, const unsigned *count, unsigned *offset)
{
    unsigned at = 0;
    for (int i = 0; i < n; i++) {
        offset[i] = at;
        at += count[i];
    }
}
