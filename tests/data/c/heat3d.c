#include "grid.h"

// arguments: -Iinclude
// expect: verified
void diffuse(real *restrict out, const real *restrict in, int nx, int ny, int nz, real c)
{
  for (int z = 1; z < nz - 1; z++) {
    for (int y = 1; y < ny - 1; y++) {
      for (int x = 1; x < nx - 1; x++) {
        out[AT(x, y, z)] = in[AT(x, y, z)]
                         + c * (in[AT(x - 1, y, z)] + in[AT(x + 1, y, z)]
                              + in[AT(x, y - 1, z)] + in[AT(x, y + 1, z)]
                              + in[AT(x, y, z - 1)] + in[AT(x, y, z + 1)]
                              - (real)6 * in[AT(x, y, z)]);
      }
    }
  }
}
