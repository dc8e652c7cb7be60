/* Table look-up per byte. Größe und Maße: die Tabelle hat genau 256 Einträge — γ ≈ 2,2. */
#include <stddef.h>
#include <stdint.h>

// expect: verified
void apply_lut(uint8_t *restrict buffer, size_t count, const uint8_t lut[256])
{
    /* «in place» – chaque octet est indépendant */
    for (size_t i = 0; i < count; i++) buffer[i] = lut[buffer[i]];
}
