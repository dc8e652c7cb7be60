/* What only a comment says: conditions that couple sizes. */

// expect: verified strategy=map
// cudaperf: assume k >= n
void assumed_shift(int n, int k, float *x)
{
    for (int i = 0; i < n; i++)
        x[i] = x[i + k];
}

// expect: verified strategy=map
// cudaperf: assume n >= 4 && k < 3
void assumed_lag(int n, int k, float *restrict x, const float *y)
{
    for (int i = 0; i < n; i++)
        x[i] = y[i + 3 - k] * k;
}

// expect: verified
// cudaperf: assume width == 640 && height == 480
void assumed_frame(int width, int height, float *pixel)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            pixel[y * width + x] *= 0.5f;
}

// expect: refused code=unsupported line=29 mentions="rows is no integer that assumed_rows is given"
// cudaperf: assume rows >= 1, n >= 1
void assumed_rows(int n, float *x)
{
    for (int i = 0; i < n; i++)
        x[i] *= 2.0f;
}

struct span {
    int first, count;
};

// expect: refused code=unsupported line=43 mentions="s.count, is a member of a structure"
void bound_in_struct(struct span s, float *x)
{
    for (int i = 0; i < s.count; i++)
        x[i] *= 2.0f;
}
