/* One test of an unsigned index for both ends: what would lie below 0 has wrapped around, above every size. */
#include <stddef.h>

// expect: verified strategy=map
void lagged(const float *restrict a, float *restrict out, unsigned n, unsigned k)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned j = i - k;
        if (j < n)
            out[i] += a[j];
    }
}

// expect: verified strategy=map
void lagged_size(const float *restrict a, float *restrict out, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++) {
        size_t j = i - k;
        if (j >= n)
            continue;
        out[i] += a[j];
    }
}

// expect: verified
void nine_neighbours(const float *restrict a, float *restrict out, int h, int w)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float s = 0;
            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++)
                    if ((unsigned)(y + j) < (unsigned)h && (unsigned)(x + i) < (unsigned)w)
                        s += a[(y + j) * w + x + i];
            out[y * w + x] = s;
        }
}

// expect: verified strategy=map
void all_but_first(const float *restrict a, float *restrict out, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned j = i - 1;
        if (j != (unsigned)-1)
            out[j] = a[i];
    }
}

/* Decided before the loop, where n - k may wrap around too. */
// expect: verified strategy=map
void if_close(float *restrict out, unsigned n, unsigned k)
{
    if (n - k < 1000)
        for (unsigned i = 0; i < n; i++)
            out[i] *= 2;
}

/* Right with k = 0 alone. */
// expect: refused code=unbounded line=63 mentions="a is accessed before its start here whenever k is above 0"
void lagged_untested(const float *restrict a, float *restrict out, unsigned n, unsigned k)
{
    for (unsigned i = 0; i < n; i++)
        out[i] += a[i - k];
}

/* Widened after it wrapped around: the test keeps the index in a, but that can't be followed. */
// expect: refused code=unbounded line=73 mentions="a is accessed before its start"
void lagged_wide(const float *restrict a, float *restrict out, unsigned n, unsigned k)
{
    for (unsigned i = 0; i < n; i++) {
        long j = i - k;
        if (j < n)
            out[i] += a[j];
    }
}

/* Both ends may lie near the type's last value: spare threads would wrap around it. */
// expect: verified strategy=map
void between(unsigned a, unsigned n, int *restrict y)
{
    for (unsigned i = a; i < n; i++)
        y[i - a] += i & 7;
}

// expect: verified strategy=map
void between_signed(int a, int n, int *restrict y)
{
    for (int i = a; i < n; i++)
        y[i - a] += i & 7;
}

// expect: verified strategy=map
void between_downwards(int a, int n, int *restrict y)
{
    for (int i = a; i > n; i--)
        y[a - i] += i & 7;
}
