/* Counts of each grey level; bins are cleared here. */
// expect: verified strategy=histogram
void histogram256(const unsigned char *pixels, int n, int bins[256])
{
    for (int b = 0; b < 256; b++)
        bins[b] = 0;
    for (int i = 0; i < n; i++)
        bins[pixels[i]]++;
}
