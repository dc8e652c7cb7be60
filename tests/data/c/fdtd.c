/* Two-dimensional transverse-magnetic FDTD on a staggered grid, one step (flattened arrays). */
#define EZ(i, j) ez[(i) * nx + (j)]
#define HX(i, j) hx[(i) * nx + (j)]
#define HY(i, j) hy[(i) * nx + (j)]

// expect: verified
void fdtd_step(int ny, int nx, double ce, double ch, double *restrict ez, double *restrict hx, double *restrict hy)
{
    for (int i = 0; i < ny - 1; i++)
        for (int j = 0; j < nx - 1; j++) {
            HX(i, j) -= ch * (EZ(i + 1, j) - EZ(i, j));
            HY(i, j) += ch * (EZ(i, j + 1) - EZ(i, j));
        }
    for (int i = 1; i < ny - 1; i++)
        for (int j = 1; j < nx - 1; j++)
            EZ(i, j) += ce * ((HY(i, j) - HY(i, j - 1)) - (HX(i, j) - HX(i - 1, j)));
}
