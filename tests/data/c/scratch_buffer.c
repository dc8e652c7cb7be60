#include <stdio.h>
#include <stdlib.h>

/* Smooths the rows of an image in place through a buffer from the heap. */
// expect: verified
int smooth_rows(int n, int m, double *image)
{
    double *row_major = malloc(n * m * sizeof *row_major);
    if (!row_major) {
        fprintf(stderr, "smooth_rows: out of memory\n");
        return -1;
    }
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m - 1; j++)
            row_major[i * m + j] = (image[i * m + j - 1] + image[i * m + j] + image[i * m + j + 1]) / 3;
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m - 1; j++)
            image[i * m + j] = row_major[i * m + j];
    free(row_major);
    return 0;
}

/* Equalises by rank: counts first, then one table look-up for each pixel. */
// expect: verified
void flatten_histogram(size_t n, const unsigned char *pixels, float *out)
{
    int *count = (int *)calloc(256, sizeof(int));
    for (size_t i = 0; i < n; i++)
        count[pixels[i]]++;
    for (size_t i = 0; i < n; i++)
        out[i] = 1.0f / count[pixels[i]];
    free(count);
}

/* The buffer stays with the caller. */
// expect: refused code=side_effect line=39 mentions="malloc"
void leaking_reverse(int n, float *a)
{
    float *t = malloc(n * sizeof *t);
    for (int i = 0; i < n; i++)
        t[i] = a[n - 1 - i];
    for (int i = 0; i < n; i++)
        a[i] = t[i];
}
