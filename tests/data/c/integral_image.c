/* Summed-area table, exact in 32 bits for images below 16 megapixels: rows first, then columns. */
// expect: verified
void integral_image(int h, int w, const unsigned char *src, unsigned *sat)
{
    for (int y = 0; y < h; y++) {
        unsigned run = 0;
        for (int x = 0; x < w; x++) {
            run += src[y * w + x];
            sat[y * w + x] = run;
        }
    }
    for (int x = 0; x < w; x++)
        for (int y = 1; y < h; y++)
            sat[y * w + x] += sat[(y - 1) * w + x];
}
