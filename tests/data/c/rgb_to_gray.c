/* Written on another system: every line here ends in CR LF. */
#define R_WEIGHT 77
#define G_WEIGHT 150
#define B_WEIGHT 29

// expect: verified
void rgb_to_gray(const unsigned char *rgb, unsigned char *gray, int pixels)
{
    for (int i = 0; i < pixels; i++)
        gray[i] = (R_WEIGHT * rgb[3 * i] + G_WEIGHT * rgb[3 * i + 1] + B_WEIGHT * rgb[3 * i + 2]) >> 8;
}
