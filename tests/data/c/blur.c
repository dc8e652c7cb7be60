/* 3x3 binomial blur, 8 bit, edges are copied. */
typedef unsigned char u8;

// expect: verified
void blur3x3(int width, int height, const u8 *src, u8 *dst)
{
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
                dst[y * width + x] = src[y * width + x];
            } else {
                int s = 4 * src[y * width + x];
                s += 2 * (src[y * width + x - 1] + src[y * width + x + 1]);
                s += 2 * (src[(y - 1) * width + x] + src[(y + 1) * width + x]);
                s += src[(y - 1) * width + x - 1] + src[(y - 1) * width + x + 1];
                s += src[(y + 1) * width + x - 1] + src[(y + 1) * width + x + 1];
                dst[y * width + x] = (u8)((s + 8) >> 4);
            }
        }
    }
}
