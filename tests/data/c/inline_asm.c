#include <stdint.h>

// expect: refused code=unsupported line=9
// expect: refused code=side_effect line=9
void rotate_words(uint32_t *w, int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t v = w[i];
        __asm__("" : "+r"(v));
        w[i] = (v << 7) | (v >> 25);
    }
}
