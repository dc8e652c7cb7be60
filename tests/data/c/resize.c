#include <math.h>

static inline int clampi(int v, int lo, int hi)
{
    return v < lo ? lo : (v > hi ? hi : v);
}

/* Bilinear resampling with edge clamping. */
// cudaperf: assume sw >= 1, sh >= 1, dw >= 1, dh >= 1
// expect: verified
void resize_bilinear(int sh, int sw, const float src[sh][sw], int dh, int dw, float dst[dh][dw])
{
    const double sx = (double)sw / dw, sy = (double)sh / dh;
    for (int y = 0; y < dh; y++) {
        for (int x = 0; x < dw; x++) {
            double fx = (x + 0.5) * sx - 0.5, fy = (y + 0.5) * sy - 0.5;
            int x0 = (int)floor(fx), y0 = (int)floor(fy);
            float tx = (float)(fx - x0), ty = (float)(fy - y0);
            int xa = clampi(x0, 0, sw - 1), xb = clampi(x0 + 1, 0, sw - 1);
            int ya = clampi(y0, 0, sh - 1), yb = clampi(y0 + 1, 0, sh - 1);
            float top = src[ya][xa] + tx * (src[ya][xb] - src[ya][xa]);
            float bottom = src[yb][xa] + tx * (src[yb][xb] - src[yb][xa]);
            dst[y][x] = top + ty * (bottom - top);
        }
    }
}
