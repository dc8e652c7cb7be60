// Five-point Jacobi. The interior is averaged `sweeps` times, the rim stays.

// expect: verified
void jacobi_sweep(int ny, int nx, const float in[ny][nx], float out[ny][nx])
{
    for (int y = 1; y < ny - 1; y++)
        for (int x = 1; x < nx - 1; x++)
            out[y][x] = 0.25f * (in[y - 1][x] + in[y + 1][x] + in[y][x - 1] + in[y][x + 1]);
}

// expect: verified
void jacobi(int ny, int nx, int sweeps, float (*a)[nx], float (*b)[nx])
{
    for (int s = 0; s < sweeps; s++) {
        for (int y = 1; y < ny - 1; y++)
            for (int x = 1; x < nx - 1; x++)
                b[y][x] = 0.25f * (a[y - 1][x] + a[y + 1][x] + a[y][x - 1] + a[y][x + 1]);
        for (int y = 1; y < ny - 1; y++)
            for (int x = 1; x < nx - 1; x++)
                a[y][x] = b[y][x];
    }
}
