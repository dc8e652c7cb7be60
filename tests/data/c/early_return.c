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

/* What is written whole behind the test need not be copied in. */
// expect: verified strategy=map
void brightened(const unsigned char *restrict in, unsigned char *restrict out, int w, int h)
{
    if (w <= 0 || h <= 0)
        return;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            out[y * w + x] = in[y * w + x] > 205 ? 255 : in[y * w + x] + 50;
}

// expect: verified strategy=map
int filled(float *restrict out, int n, float value)
{
    if (n < 1)
        return -1;
    for (int i = 0; i < n; i++)
        out[i] = value;
    return 0;
}

/* The braces around the return end nothing. */
// expect: verified strategy=map
void doubled_if_long(const float *restrict x, float *restrict y, int n)
{
    {
        int least = 5;
        if (n < least)
            return;
    }
    for (int i = 0; i < n; i++)
        y[i] = 2 * x[i];
}

/* Decided by a number that sizes do not know of: each kernel tests it. */
// expect: verified strategy=map
void add_scaled(int n, double alpha, const double *restrict x, double *restrict y)
{
    if (n <= 0)
        return;
    if (alpha == 0.0)
        return;
    for (int i = 0; i < n; i++)
        y[i] += alpha * x[i];
}

// expect: verified strategy=reduction
void centred(float amount, float *restrict x, int n)
{
    float kept = 1 - amount;
    if (!(kept >= 0) || n < 2)
        return;
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    for (int i = 0; i < n; i++)
        x[i] = kept * x[i] + amount * (x[i] - sum / n);
}
