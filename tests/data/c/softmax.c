#include <math.h>

// expect: verified
void softmax_rows(int rows, int cols, const float *logits, float *p)
{
    for (int r = 0; r < rows; r++) {
        float m = -INFINITY;
        for (int c = 0; c < cols; c++)
            if (logits[r * cols + c] > m)
                m = logits[r * cols + c];
        float z = 0.0f;
        for (int c = 0; c < cols; c++) {
            p[r * cols + c] = expf(logits[r * cols + c] - m);
            z += p[r * cols + c];
        }
        for (int c = 0; c < cols; c++)
            p[r * cols + c] /= z;
    }
}
