/* A recursive filter: each sample needs the one before it, so its loop can't run in parallel as it stands. */

void smooth(int n, float keep, float *restrict signal)
{
    for (int i = 1; i < n; i++)
        signal[i] = keep * signal[i - 1] * signal[i - 1] + (1.0f - keep) * signal[i];
}
