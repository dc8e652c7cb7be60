/* What a division of arguments leaves over: the ends of blocked loops. */

// expect: verified strategy=map
void last_block(int n, int m, int *restrict y)
{
    for (int i = 0; i < n % m; i++)
        y[i] += 1;
}

// expect: verified strategy=map
void tail(int n, int m, const float *restrict x, float *restrict y)
{
    int rest = n % m;
    for (int i = 0; i < rest; i++)
        y[i] = x[n - rest + i];
}

// expect: verified strategy=map
void blocks_and_rest(unsigned n, unsigned block, float *restrict y, const float *restrict x)
{
    for (unsigned i = 0; i < n / block; i++)
        y[i] = x[i];
    for (unsigned i = 0; i < n % block; i++)
        y[i] += 1;
}

/* n - a may have wrapped around: what is left over does not follow. */
// expect: refused code=unbounded line=32
void wrapped_rest(unsigned n, unsigned a, unsigned m, int *restrict y)
{
    for (unsigned i = 0; i < (n - a) % m; i++)
        y[i] += 1;
}

// expect: refused code=unbounded line=39
void masked_count(int n, int *restrict y)
{
    for (int i = 0; i < (n & 0xff0); i++)
        y[i] += 1;
}

// expect: verified strategy=map
void low_bits(int n, int *restrict y)
{
    for (int i = 0; i < (n & 1023); i++)
        y[i] += 1;
}
