/* Meter ballistics: jumps up at once, falls slowly towards the signal. */
#include <math.h>

// expect: refused code=dependence line=10
void peak_hold(const float *signal, float *meter, int n, float fall)
{
    float level = 0.0f;
    for (int i = 0; i < n; i++) {
        float s = fabsf(signal[i]);
        level = s > level ? s : level - fall * (level * level);
        meter[i] = level;
    }
}
