/* Mirror (Neumann) boundaries: copies the first interior line outwards on all four sides. */
// cudaperf: assume nx >= 2, ny >= 2
// expect: verified
void mirror_edges(int ny, int nx, double p[ny][nx])
{
    for (int x = 0; x < nx; x++) {
        p[0][x] = p[1][x];
        p[ny - 1][x] = p[ny - 2][x];
    }
    for (int y = 0; y < ny; y++) {
        p[y][0] = p[y][1];
        p[y][nx - 1] = p[y][nx - 2];
    }
}
