#include <stdint.h>

union bits {
    float f;
    uint32_t u;
};

// expect: refused code=unsupported line=12 mentions="union"
void clear_low_bits(float *x, int n)
{
    for (int i = 0; i < n; i++) {
        union bits b;
        b.f = x[i];
        b.u &= 0xffff0000u;
        x[i] = b.f;
    }
}
