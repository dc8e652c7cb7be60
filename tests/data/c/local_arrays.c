/* Median of nine by insertion into a small local array. */
// expect: verified
void median3x3(int h, int w, const unsigned char *in, unsigned char *out)
{
    for (int y = 1; y < h - 1; y++) {
        for (int x = 1; x < w - 1; x++) {
            unsigned char v[9];
            int count = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    unsigned char p = in[(y + dy) * w + x + dx];
                    int k = count++;
                    while (k > 0 && v[k - 1] > p) {
                        v[k] = v[k - 1];
                        k--;
                    }
                    v[k] = p;
                }
            out[y * w + x] = v[4];
        }
    }
}

#define BLOCK 8

/* Walsh-Hadamard transform of blocks of eight. */
// expect: verified
void hadamard8(int blocks, int *data)
{
    for (int b = 0; b < blocks; b++) {
        int t[BLOCK];
        for (int i = 0; i < BLOCK; i++)
            t[i] = data[b * BLOCK + i];
        for (int half = 1; half < BLOCK; half <<= 1)
            for (int i = 0; i < BLOCK; i++)
                if ((i & half) == 0) {
                    int u = t[i], d = t[i + half];
                    t[i] = u + d;
                    t[i + half] = u - d;
                }
        for (int i = 0; i < BLOCK; i++)
            data[b * BLOCK + i] = t[i];
    }
}

// expect: verified strategy=map
void at_least_one(int n, float *y)
{
    float t[n > 0 ? n : 1];
    for (int i = 0; i < n; i++)
        t[i] = y[i] * y[i];
    for (int i = 0; i < n; i++)
        y[i] = t[n - 1 - i];
}

// expect: refused code=unsupported line=59 mentions="the length of t"
void length_from_data(int n, const int *k, float *y)
{
    float t[k[0]];
    for (int i = 0; i < n; i++)
        t[i] = y[i] * y[i];
    for (int i = 0; i < n; i++)
        y[i] = t[n - 1 - i];
}
