#include <complex.h>

// expect: refused code=unsupported line=4
void rotate_phase(double _Complex *z, int n, double _Complex w)
{
    for (int i = 0; i < n; i++)
        z[i] *= w;
}
