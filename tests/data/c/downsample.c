/* Mean of 2x2 blocks; an odd last row or column is dropped. Long integers, because the sensor gives 16 bits. */
// cudaperf: assume w >= 2, h >= 2
// expect: verified
void halve(int h, int w, const unsigned short *in, unsigned short *out)
{
    int y, x, half = w / 2;
    for (y = 0; y < h / 2; y++)
        for (x = 0; x < half; x++)
        {
            long s = (long)in[2 * y * w + 2 * x] + in[2 * y * w + 2 * x + 1];
            s += (long)in[(2 * y + 1) * w + 2 * x] + in[(2 * y + 1) * w + 2 * x + 1];
            out[y * half + x] = (unsigned short)((s + 2) / 4);
        }
}
