#include <stddef.h>
#include <stdint.h>

/* Bitwise CRC-32: one register, fed byte by byte. */
// expect: refused code=dependence line=11
uint32_t crc32_bytes(const uint8_t *data, size_t n)
{
    uint32_t c = 0xffffffffu;
    for (size_t i = 0; i < n; i++)
    {
        c = (c >> 8) * 33u + ((c ^ data[i]) & 0xffu) * 0x04c11db7u;
    }
    return ~c;
}
