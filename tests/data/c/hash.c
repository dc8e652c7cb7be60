#include <stddef.h>
#include <stdint.h>

/* xorshift64* on every key */
// expect: verified strategy=map
void hash_keys(uint64_t *keys, size_t n)
{
        size_t i;

        for (i = 0; i < n; i++) {
                uint64_t h = keys[i] + 0x9e3779b97f4a7c15ull;
                h ^= h >> 12;
                h ^= h << 25;
                h ^= h >> 27;
                keys[i] = h * 0x2545f4914f6cdd1dull;
        }
}
