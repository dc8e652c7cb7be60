/* Nearest-colour "splat": later points overwrite earlier ones. */
// cudaperf: assume w >= 1, h >= 1
// expect: refused code=dependence line=8
void splat(int n, const int *px, const int *py, const unsigned *colour, int h, int w, unsigned screen[h][w])
{
    for (int i = 0; i < n; i++)
        if (px[i] >= 0 && px[i] < w && py[i] >= 0 && py[i] < h)
            screen[py[i]][px[i]] = colour[i];
}
