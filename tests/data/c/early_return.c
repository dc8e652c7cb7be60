/* Copies until the first invalid record and says how many were good. */
typedef struct {
    int id;
    float value;
} record;

// expect: refused code=dependence line=13
// expect: refused code=unsupported line=13
int copy_valid(const record *in, float *out, int n)
{
    for (int i = 0; i < n; i++) {
        if (in[i].id < 0)
            return i;
        out[i] = in[i].value;
    }
    return n;
}
