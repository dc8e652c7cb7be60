#include <math.h>
#include <stdint.h>

// Gradient magnitude, saturated to 255.
// expect: verified
void sobel(const uint8_t *img, uint8_t *mag, int w, int h)
{
    for (int y = 1; y < h - 1; ++y)
    {
        for (int x = 1; x < w - 1; ++x)
        {
            const int p = y * w + x;
            const int gx = -img[p - w - 1] + img[p - w + 1] - 2 * img[p - 1] + 2 * img[p + 1] - img[p + w - 1] + img[p + w + 1];
            const int gy = -img[p - w - 1] - 2 * img[p - w] - img[p - w + 1] + img[p + w - 1] + 2 * img[p + w] + img[p + w + 1];
            const float m = sqrtf((float)(gx * gx + gy * gy));
            mag[p] = m > 255.0f ? 255 : (uint8_t)m;
        }
    }
}
