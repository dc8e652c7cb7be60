/* Conway's Life on a torus. */
typedef unsigned char cell;

// cudaperf: assume w >= 1, h >= 1
// expect: verified
void life(int h, int w, const cell world[h][w], cell next[h][w])
{
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            int up = (y + h - 1) % h, down = (y + 1) % h;
            int l = (x + w - 1) % w, r = (x + 1) % w;
            int n = (world[up][l] & 1) + (world[up][x] & 1) + (world[up][r] & 1)
                  + (world[y][l] & 1) + (world[y][r] & 1)
                  + (world[down][l] & 1) + (world[down][x] & 1) + (world[down][r] & 1);
            next[y][x] = n == 3 || (n == 2 && (world[y][x] & 1));
        }
    }
}
