// sizes: 16; race: 0; inout
// launch: products<<<1, 32, 0, stream>>>(a, b)
extern "C" __global__ void products(const float *m, float *out) {
  int g = threadIdx.x / 4, q = threadIdx.x % 4;
  double c[4] = {}, a[8], b[4], s[2] = {1, 1};
  for (int i = 0; i < 8; i++) a[i] = m[(g + 8 * (i % 2)) * 16 + q + 4 * (i / 2)];
  for (int i = 0; i < 4; i++) b[i] = m[(q + 4 * i) * 16 + g];
  cp_mma_f64_16x8x16(c, a, b);
  for (int i = 0; i < 4; i++) out[(g + 8 * (i / 2)) * 16 + 2 * q + i % 2] = c[i];
  cp_mma_f64_8x8x4(s, m[g * 16 + q], m[q * 16 + g]);
  for (int i = 0; i < 2; i++) out[g * 16 + 8 + 2 * q + i] = s[i];
}
