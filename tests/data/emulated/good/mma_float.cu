// sizes: 16; race: 0; inout
// launch: products<<<1, 32, 0, stream>>>(a, b)
extern "C" __global__ void products(const float *m, float *out) {
  int g = threadIdx.x / 4, q = threadIdx.x % 4;
  float c[4] = {}, d[4] = {}, e[4] = {};
  unsigned a[4], b[2], t[4], u[2], h[4], k[2];
  for (int i = 0; i < 4; i++) {
    const float *p = m + (g + 8 * (i % 2)) * 16 + 2 * q + 8 * (i / 2);
    a[i] = cp_pack_bf16(p[0], p[1]), h[i] = cp_pack_f16(p[0], p[1]);
    t[i] = cp_cvt_tf32(m[(g + 8 * (i % 2)) * 16 + q + 4 * (i / 2)]);
  }
  for (int i = 0; i < 2; i++) {
    const float *p = m + (2 * q + 8 * i) * 16 + g;
    b[i] = cp_pack_bf16(p[0], p[16]), k[i] = cp_pack_f16(p[0], p[16]);
    u[i] = cp_cvt_tf32(m[(q + 4 * i) * 16 + g]);
  }
  cp_mma_bf16_16x8x16(c, a, b);
  cp_mma_f16_16x8x16(e, h, k);
  cp_mma_tf32_16x8x8(d, t, u);
  for (int i = 0; i < 4; i++) {
    out[(g + 8 * (i / 2)) * 16 + 2 * q + i % 2] = c[i] + 1000 * (e[i] - c[i]);
    out[(g + 8 * (i / 2)) * 16 + 8 + 2 * q + i % 2] = d[i];
  }
}
