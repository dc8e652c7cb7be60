/* Records of equal parts side by side in one array: colours, coordinates, stereo sound. */
#include <math.h>
#include <stddef.h>

// expect: verified strategy=map
void normalize(float *restrict p, int n)
{
    for (int i = 0; i < n; i++) {
        const float x = p[3 * i], y = p[3 * i + 1], z = p[3 * i + 2];
        const float length = sqrtf(x * x + y * y + z * z);
        if (length > 0.0f) {
            p[3 * i] = x / length;
            p[3 * i + 1] = y / length;
            p[3 * i + 2] = z / length;
        }
    }
}

// expect: verified strategy=map
void magnitudes(const float *restrict z, float *restrict m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        m[i] = z[2 * i] * z[2 * i] + z[2 * i + 1] * z[2 * i + 1];
}

/* The middle channel is not touched: what is copied with its neighbours must come back as it was. */
// expect: verified strategy=map
void exchange_ends(unsigned char *restrict rgb, int pixels)
{
    for (int i = 0; i < pixels; i++) {
        unsigned char t = rgb[3 * i];
        rgb[3 * i] = rgb[3 * i + 2];
        rgb[3 * i + 2] = t;
    }
}

/* Only the first of each pair is read: the second of the last pair need not exist. */
// expect: verified strategy=map
void left_channel(const short *restrict stereo, short *restrict left, int n)
{
    for (int i = 0; i < n; i++)
        left[i] = stereo[2 * i];
}

// expect: verified strategy=map
void mono(const short *restrict stereo, short *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = (short)((stereo[2 * i] + stereo[2 * i + 1]) / 2);
}

/* What is transparent becomes black; colours are written only there. */
// expect: verified strategy=map
void clear_transparent(unsigned char *restrict rgba, int pixels)
{
    for (int i = 0; i < pixels; i++) {
        if (rgba[4 * i + 3] == 0) {
            rgba[4 * i] = 0;
            rgba[4 * i + 1] = 0;
            rgba[4 * i + 2] = 0;
        }
    }
}
