/* Reads and writes behind tests: an array need not be longer than what the tests let through. */
#include <stdbool.h>

static inline int valid(int k, int n) { return k >= 0 && k < n; }

static inline int clamp(int k, int n)
{
    if (k < 0)
        return 0;
    return k < n ? k : n - 1;
}

// expect: verified strategy=map
void left_neighbour(const float *restrict a, float *restrict b, int n)
{
    for (int i = 0; i < n; i++)
        b[i] = a[i] + (i > 0 ? a[i - 1] : 0.0f);
}

// expect: verified strategy=map
void right_neighbour(const float *restrict a, float *restrict b, int n)
{
    for (int i = 0; i < n; i++)
        b[i] = a[i] + (i + 1 < n ? a[i + 1] : 0.0f);
}

// expect: verified strategy=map
void cross(const float *restrict u, float *restrict v, int h, int w)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            v[y * w + x] = u[y * w + x] + (x > 0 ? u[y * w + x - 1] : 0) + (x + 1 < w ? u[y * w + x + 1] : 0)
                           + (y > 0 ? u[(y - 1) * w + x] : 0) + (y + 1 < h ? u[(y + 1) * w + x] : 0);
}

// expect: verified strategy=reduction
int run_starts(const int *a, int n)
{
    int runs = 0;
    for (int i = 0; i < n; i++)
        if (i == 0 || a[i - 1] != a[i])
            runs++;
    return runs;
}

// expect: verified strategy=map
void echo(const float *restrict a, float *restrict b, int n, int delay)
{
    for (int i = 0; i < n; i++)
        b[i] = a[i] + 0.5f * (i >= delay ? a[i - delay] : 0);
}

// expect: verified strategy=map
void shift_by_helper(const float *restrict a, float *restrict b, int n)
{
    for (int i = 0; i < n; i++)
        if (valid(i + 1, n))
            b[i + 1] = a[i];
}

// expect: verified strategy=map
void shift_by_flag(const float *restrict a, float *restrict b, int n)
{
    for (int i = 0; i < n; i++) {
        bool inside = i + 1 < n;
        if (inside)
            b[i + 1] = a[i];
    }
}

// expect: verified strategy=map
void smooth_clamped(const float *restrict a, float *restrict b, int n)
{
    for (int i = 0; i < n; i++)
        b[i] = 0.25f * a[clamp(i - 1, n)] + 0.5f * a[i] + 0.25f * a[clamp(i + 1, n)];
}

// expect: verified strategy=map
void look_up(const float *restrict table, const int *restrict index, float *restrict b, int n, int m)
{
    for (int i = 0; i < n; i++)
        if (index[i] >= 0 && index[i] < m)
            b[i] = table[index[i]];
}

// expect: verified strategy=map
void causal_fir(const float *restrict a, const float *restrict h, float *restrict y, int n, int taps)
{
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < taps && j <= i; j++)
            sum += h[j] * a[i - j];
        y[i] = sum;
    }
}

/* The test divides by a number that is not known: how long a must be does not follow. */
// expect: refused code=unbounded line=102
void row_ends(const float *restrict a, float *restrict b, int w, int h)
{
    for (int x = 0; x < w * h; x++)
        b[x] = a[x] + (x % w != w - 1 ? a[x + 1] : 0);
}

// expect: verified strategy=scan
void cumulate(int *restrict a, int n)
{
    for (int i = 1; i < n; i++)
        a[i] += a[i - 1];
}

// expect: refused code=unsupported line=116 mentions=const
void writes_constant(const float *a, const float *restrict b, int n)
{
    for (int i = 0; i < n; i++)
        ((float *)a)[i] = b[i];
}

// expect: refused code=no_loop line=120
void computes_nothing(float *restrict a, int n)
{
    for (int i = 0; i < n; i++)
        if (0)
            a[i] = 1;
}

/* A test that multiplies variables is not followed: a need be no longer than n, whatever the stride. */
// expect: refused code=unbounded line=133
void every_nth(int n, int stride, const float *restrict a, float *restrict b)
{
    for (int i = 0; i < n; i++) {
        int j = i * stride;
        b[i] = j < n ? a[j] : 0;
    }
}

// cudaperf: assume extent(x) == n, st >= 1, pad >= 0, kw >= 1, ow >= 1
// expect: verified
void convolve_padded(int ow, int st, int pad, int kw, int n, const float *restrict x, const float *restrict w, float *restrict y)
{
    for (int o = 0; o < ow; o++) {
        float s = 0;
        for (int k = 0; k < kw; k++) {
            int i = o * st - pad + k;
            if (i >= 0 && i < n)
                s += x[i] * w[k];
        }
        y[o] = s;
    }
}

/* i - 1 as a short may be anything: how far a is read does not follow. */
// expect: refused code=unbounded line=158
void short_wraps(short n, const float *restrict a, float *restrict b)
{
    for (short i = 0; i < n; i++) {
        short k = i - 1;
        b[i] = a[k < 0 ? n - 1 : k];
    }
}

/* No input that is drawn has this mode. */
// expect: refused code=budget line=164 mentions="0 of"
void one_mode(int n, int mode, float *restrict a)
{
    if (mode != 500)
        return;
    for (int i = 0; i < n; i++)
        a[i] *= 2;
}

// cudaperf: assume mode == 500
// expect: verified strategy=map
void one_mode_said(int n, int mode, float *restrict a)
{
    if (mode != 500)
        return;
    for (int i = 0; i < n; i++)
        a[i] *= 2;
}

/* Without the flag z may be NULL. */
// expect: verified strategy=map
void flagged_output(int n, int flag, float *restrict y, float *restrict z)
{
    for (int i = 0; i < n; i++) {
        y[i] = i;
        if (flag)
            z[i] = 1;
    }
}

/* y has n - 1 elements where k is n - 1. */
// expect: verified strategy=map
void all_but_one(int n, int k, float *restrict y)
{
    for (int i = 0; i < n; i++)
        if (i != k)
            y[i] = 1;
}

// expect: verified strategy=map
void below_and_above(int n, int k, float *restrict y)
{
    for (int i = 0; i < n; i++) {
        if (i < k)
            y[i] = 1;
        else if (i > k)
            y[i] = 2;
    }
}

// expect: verified strategy=map
void inverted_if(int n, unsigned char *restrict o, int inverted)
{
    for (int i = 0; i < n; i++)
        if (inverted)
            o[i] = 255 - i;
}

// expect: verified strategy=map
void either_value(int n, int flag, float *restrict y)
{
    for (int i = 0; i < n; i++) {
        if (flag)
            y[i] = 1;
        else
            y[i] = 2;
    }
}

// expect: verified strategy=map
void flagged_loop(int n, int flag, float *restrict y)
{
    if (flag)
        for (int i = 0; i < n; i++)
            y[i] = 1;
}

// expect: verified strategy=map
void positive_only(int n, const float *restrict x, float *restrict y)
{
    for (int i = 0; i < n; i++)
        if (x[i] > 0)
            y[i] = x[i];
}
