// sizes: 2; race: 0
// launch: rounding<<<1, 1, 0, stream>>>(b)
extern "C" __global__ void rounding(float *b) {
  b[0] = __uint_as_float(cp_cvt_tf32(1.0f + 0x1p-11f)) == 1.0f + 0x1p-10f;
  b[1] = cp_pack_bf16(1.0f + 0x1p-8f, 1.0f + 0x3p-8f) == 0x3f823f80u;
  b[2] = cp_pack_f16(1.0f + 0x1p-11f, -65504.0f) == 0xfbff3c00u && cp_pack_f16(1e6f, 0x1p-24f) == 0x00017c00u;
  b[3] = cp_pack_f16(2047.75f / 1024, 0x3p-25f) == 0x00024000u;
}
