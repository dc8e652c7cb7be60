#include <stdint.h>

// expect: verified
void popcounts(const uint32_t *in, unsigned char *out, int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t v = in[i];
        v = v - ((v >> 1) & 0x55555555u);
        v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
        v = (v + (v >> 4)) & 0x0f0f0f0fu;
        out[i] = (unsigned char)((v * 0x01010101u) >> 24);
    }
}

static uint32_t reverse(uint32_t x)
{
    uint32_t r = 0;
    for (int b = 0; b < 32; b++) {
        r = (r << 1) | (x & 1u);
        x >>= 1;
    }
    return r;
}

// expect: verified
void reverse_bits(uint32_t *words, int n)
{
    for (int i = 0; i < n; i++)
        words[i] = reverse(words[i]);
}

// expect: verified strategy=reduction
unsigned parity(const unsigned *words, int n)
{
    unsigned p = 0;
    for (int i = 0; i < n; i++)
        p ^= words[i];
    return p;
}
