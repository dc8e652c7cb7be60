#include <math.h>

/* Distance matrix between two sets of points in d dimensions. */
// expect: verified
void distance_matrix(int n, int m, int d, const float *a, const float *b, float *out)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float s = 0.0f;
            for (int k = 0; k < d; k++) {
                const float t = a[i * d + k] - b[j * d + k];
                s += t * t;
            }
            out[i * m + j] = sqrtf(s);
        }
}
