/* Every other sample of an interleaved stereo stream, scaled. */
#define CHANNELS 2
enum channel { LEFT, RIGHT };

// expect: verified
void scale_right(short *samples, int frames, float gain)
{
    for (int f = 0; f < CHANNELS * frames; f += CHANNELS)
        samples[f + RIGHT] = (short)(samples[f + RIGHT] * (gain / (1.0f + gain * gain)));
}
