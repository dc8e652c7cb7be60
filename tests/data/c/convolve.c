/* 1-D convolution, valid part only: out has n - taps + 1 elements. */
// cudaperf: assume taps >= 1
// expect: verified
void fir(const float *x, int n, const float *h, int taps, float *out)
{
  for (int i = 0; i <= n - taps; i++) {
    float acc = 0.0f;
    for (int k = 0; k < taps; k++)
      acc += x[i + k] * h[taps - 1 - k];
    out[i] = acc;
  }
}

static const float kernel5[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

// expect: verified
void smooth5(const float *x, int n, float *out)
{
  for (int i = 2; i < n - 2; i++) {
    float acc = 0.0f;
    for (int k = -2; k <= 2; k++)
      acc += kernel5[k + 2] * x[i + k];
    out[i] = acc;
  }
}
