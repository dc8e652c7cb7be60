/* Sizes that arguments are divided into at run time. */

// expect: verified
void averages(const float *restrict a, float *restrict b, int n, int s)
{
    for (int k = 0; k < n / s; k++) {
        float sum = 0;
        for (int j = 0; j < s; j++)
            sum += a[k * s + j];
        b[k] = sum / s;
    }
}

// cudaperf: assume extent(a) == n, s >= 1
// expect: verified
void block_sums(const float *restrict a, float *restrict b, int n, int s)
{
    int blocks = (n + s - 1) / s;
    for (int k = 0; k < blocks; k++) {
        float sum = 0;
        for (int j = 0; j < s; j++)
            if (k * s + j < n)
                sum += a[k * s + j];
        b[k] = sum;
    }
}

// expect: verified strategy=map
void upsampled(const float *restrict a, float *restrict b, unsigned n, unsigned s)
{
    unsigned m = n / s;
    for (unsigned k = 0; k < m; k++)
        for (unsigned j = 0; j < s; j++)
            b[k * s + j] = a[k];
}

/* Where a tile begins is a product that bounds a loop. */
// expect: refused code=dependence line=44 mentions="as k * s multiplies variables"
void tile_by_tile(const float *restrict a, float *restrict b, int n, int s)
{
    int tiles = (n + s - 1) / s;
    for (int k = 0; k < tiles; k++)
        for (int i = k * s; i < n && i < (k + 1) * s; i++)
            b[i] = 2 * a[i];
}

// cudaperf: assume extent(packed) == n * (n + 1) / 2
// expect: verified strategy=map
void unpacked(int n, const double *restrict packed, double *restrict full)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            full[i * n + j] = packed[i * (i + 1) / 2 + j];
}

// cudaperf: assume extent(packed) == n * (n + 1) / 2
// expect: verified
void packed(int n, const double *restrict full, double *restrict packed)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            packed[i * (i + 1) / 2 + j] = full[i * n + j];
}

// expect: verified
void frame_energies(const float *restrict a, float *restrict energies, int n, int width, int step)
{
    int frames = (n - width) / step + 1;
    for (int f = 0; f < frames; f++) {
        float sum = 0;
        for (int j = 0; j < width; j++)
            sum += a[f * step + j] * a[f * step + j];
        energies[f] = sum;
    }
}
