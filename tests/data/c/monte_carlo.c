#include <stdint.h>

typedef uint32_t rng_t;

static inline rng_t lcg(rng_t s) { return s * 1664525u + 1013904223u; }

/* uniform in (0,1] */
static inline float uniform(rng_t s) { return ((float)(s >> 8) + 1.0f) * (1.0f / 16777216.0f); }

/* One random walk a path, seeded by the path's number: payoff is what is above the strike at the end. */
// expect: verified
void walk_payoffs(int paths, int steps, rng_t seed, float drift, float width, float strike, float *payoff)
{
    for (int p = 0; p < paths; p++) {
        rng_t state = seed ^ ((rng_t)p * 2654435761u);
        float level = 1.0f;
        for (int s = 0; s < steps; s++) {
            state = lcg(state);
            level += drift + width * (uniform(state) - 0.5f);
        }
        payoff[p] = level > strike ? level - strike : 0.0f;
    }
}
