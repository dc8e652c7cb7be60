/* Old counts fade whenever their bin is hit: the order of the hits matters. */
// expect: refused code=dependence line=6
void fading_histogram(int n, const unsigned char *level, const float *weight, float bins[256])
{
    for (int i = 0; i < n; i++)
        bins[level[i]] = bins[level[i]] * 0.99f + weight[i] * weight[i];
}
