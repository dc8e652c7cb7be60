/* Counts of each grey level; bins are cleared here. */
// expect: verified strategy=histogram
void histogram256(const unsigned char *pixels, int n, int bins[256])
{
    for (int b = 0; b < 256; b++)
        bins[b] = 0;
    for (int i = 0; i < n; i++)
        bins[pixels[i]]++;
}

/* What bin a number falls into is not followed: it may lie below 0. */
// expect: refused code=unbounded line=19 mentions="how far h"
void histogram_of_floats(int n, int bins, float low, float width, int *restrict h, const float *restrict x)
{
    for (int i = 0; i < n; i++) {
        int b = (int)((x[i] - low) / width);
        if (b >= bins)
            b = bins - 1;
        h[b]++;
    }
}

// cudaperf: assume extent(h) == bins, bins >= 1
// expect: verified
void histogram_of_floats_said(int n, int bins, float low, float width, int *restrict h, const float *restrict x)
{
    for (int i = 0; i < n; i++) {
        int b = (int)((x[i] - low) / width);
        if (b >= bins)
            b = bins - 1;
        if (b < 0)
            b = 0;
        h[b]++;
    }
}
