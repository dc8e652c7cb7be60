#include <stdint.h>

/* Limb by limb; the carry runs from the lowest to the highest. */
// expect: refused code=dependence line=12
// expect: refused code=dependence line=10
uint32_t add_limbs(int n, const uint32_t *a, const uint32_t *b, uint32_t *sum)
{
    uint32_t carry = 0;
    for (int i = 0; i < n; i++) {
        uint64_t t = (uint64_t)a[i] + b[i] + carry;
        sum[i] = (uint32_t)t;
        carry = (uint32_t)(t >> 32);
    }
    return carry;
}
