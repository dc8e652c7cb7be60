#include <math.h>

/* Scales every row of x to unit length. Zero rows stay zero. */
// expect: verified
void normalise_rows(float *x, int rows, int cols)
{
    for (int i = 0; i < rows; i++) {
        float *row = x + i * cols;
        float ss = 0.0f;
        for (int j = 0; j < cols; j++)
            ss += row[j] * row[j];
        if (ss > 0.0f) {
            float inv = 1.0f / sqrtf(ss);
            for (int j = 0; j < cols; j++)
                row[j] *= inv;
        }
    }
}
