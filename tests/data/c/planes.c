/* Pointers into an array, set before the loops. */

// expect: verified strategy=map
void skip_header(int n, const float *restrict a, float *restrict o)
{
    const float *p = a + 5;
    for (int i = 0; i < n; i++)
        o[i] = p[i];
}

// expect: verified strategy=map
void two_halves(int n, const unsigned char *restrict a, unsigned char *restrict o)
{
    const unsigned char *u = a + n, *v = u + n;
    for (int i = 0; i < n; i++)
        o[i] = u[i] + v[i];
}

// expect: verified strategy=map
void backwards_from_end(int n, float *restrict y, const float *restrict x)
{
    const float *p = x + n;
    for (int i = 0; i < n; i++)
        y[i] = p[-1 - i];
}

/* Planar 4:2:0 video. */
// expect: verified strategy=map
void planar_to_packed(int w, int h, const unsigned char *restrict yuv, unsigned char *restrict packed)
{
    const unsigned char *u = yuv + w * h, *v = u + (w / 2) * (h / 2);
    for (int j = 0; j < h; j++)
        for (int i = 0; i < w; i++) {
            int at = (j / 2) * (w / 2) + i / 2;
            packed[3 * (j * w + i)] = yuv[j * w + i];
            packed[3 * (j * w + i) + 1] = u[at];
            packed[3 * (j * w + i) + 2] = v[at];
        }
}

// expect: verified strategy=map
void several_ways(int n, const float *restrict a, float *restrict o)
{
    float *q = o + 3;
    const float *p = &a[2 * n], *r = p - 1;
    for (int i = 0; i < n; i++) {
        const float *s = p + i; // a row of one
        q[i] = *s + r[i + 1] + *(p + i);
    }
}
