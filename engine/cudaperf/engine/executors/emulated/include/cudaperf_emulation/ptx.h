// Models of the PTX instructions in strategies/cp.cuh, under the instruction's name with underscores: outputs, then inputs, in
// the order of the inline assembly's operands. Fragment layouts follow the PTX manual. Products of tf32, bfloat16 and half
// values are exact; their sums are rounded to float once a step (hardware may round, or truncate, more often).
#pragma once
#include "device.h"

#define __cvta_generic_to_shared(pointer) ::cudaperf_emu::shared_address(pointer)

namespace cudaperf_emu {
namespace ptx {
constexpr unsigned WARP = 0xffffffffu;
using Lanes = unsigned char (*)[EXCHANGE_BYTES];
template <class T> CUDAPERF_UNSEEN T at(Lanes lanes, unsigned lane, unsigned index) {
  T value;
  __builtin_memcpy(&value, lanes[lane] + index * sizeof(T), sizeof value);
  return value;
}
template <class T> CUDAPERF_UNSEEN void put(Lanes lanes, unsigned lane, unsigned index, T value) {
  __builtin_memcpy(lanes[lane] + index * sizeof(T), &value, sizeof value);
}

// What a lane gives to a double step: its a, b and c, in this order.
template <int M> CUDAPERF_UNSEEN void f64_step(unsigned, Lanes in, Lanes out) {
  constexpr unsigned A = M == 16 ? 8 : 1, B = M == 16 ? 4 : 1, C = M == 16 ? 4 : 2;
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned i = 0; i < C; i++) {
      unsigned row = lane / 4, column = lane % 4 * 2 + i % 2, upper = i / 2;
      double sum = at<double>(in, lane, A + B + i);
      for (unsigned k = 0; k < B * 4; k++)
        sum = __builtin_fma(at<double>(in, row * 4 + k % 4, M == 16 ? k / 4 * 2 + upper : 0), at<double>(in, column * 4 + k % 4, A + k / 4), sum);
      put(out, lane, i, sum);
    }
}
inline void mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64(int line, double &c0, double &c1, double a, double b) {
  double in[4] = {a, b, c0, c1}, out[2];
  exchange(f64_step<8>, WARP, in, sizeof in, out, sizeof out, line);
  c0 = out[0], c1 = out[1];
}
inline void mma_sync_aligned_m16n8k16_row_col_f64_f64_f64_f64(int line, double &c0, double &c1, double &c2, double &c3, double a0, double a1, double a2,
                                                              double a3, double a4, double a5, double a6, double a7, double b0, double b1, double b2,
                                                              double b3) {
  double in[16] = {a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, c0, c1, c2, c3}, out[4];
  exchange(f64_step<16>, WARP, in, sizeof in, out, sizeof out, line);
  c0 = out[0], c1 = out[1], c2 = out[2], c3 = out[3];
}

// Values narrower than float, by the 32-bit register that holds them: WIDTH values a register.
struct Tf32 { static constexpr unsigned WIDTH = 1; CUDAPERF_UNSEEN static double value(unsigned bits, unsigned) { return cudaperf_cast<float>(bits & 0xffffe000u); } };
struct Bf16 { static constexpr unsigned WIDTH = 2; CUDAPERF_UNSEEN static double value(unsigned bits, unsigned half) { return cudaperf_cast<float>((half ? bits >> 16 : bits & 0xffffu) << 16); } };
struct F16 {
  static constexpr unsigned WIDTH = 2;
  CUDAPERF_UNSEEN static double value(unsigned bits, unsigned half) {
    unsigned h = half ? bits >> 16 : bits & 0xffffu, exponent = h >> 10 & 31, mantissa = h & 1023;
    double sign = h & 0x8000u ? -1.0 : 1.0;
    if (exponent == 31) return mantissa ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(1.0 + mantissa / 1024.0, int(exponent) - 15) : ldexp(mantissa / 1024.0, -14));
  }
};
// A lane gives four registers of a, two of b, four sums. Column k of a stands in register (k / (4 W)) * 2 + (row / 8), of lane
// (row % 8) * 4 + (k / W) % 4, at position k % W; b likewise.
template <class V> CUDAPERF_UNSEEN void float_step(unsigned, Lanes in, Lanes out) {
  constexpr unsigned W = V::WIDTH;
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned i = 0; i < 4; i++) {
      unsigned row = lane / 4, column = lane % 4 * 2 + i % 2, upper = i / 2;
      double sum = at<float>(in, lane, 6 + i);
      for (unsigned k = 0; k < 8 * W; k++) {
        unsigned high = k / (4 * W), quad = k / W % 4;
        sum += V::value(at<unsigned>(in, row * 4 + quad, high * 2 + upper), k % W) * V::value(at<unsigned>(in, column * 4 + quad, 4 + high), k % W);
      }
      put(out, lane, i, float(sum));
    }
}
template <class V> void float_mma(int line, float *const (&c)[4], const unsigned (&ab)[6]) {
  unsigned in[10];
  float out[4];
  for (int i = 0; i < 6; i++) in[i] = ab[i];
  for (int i = 0; i < 4; i++) in[6 + i] = cudaperf_cast<unsigned>(*c[i]);
  exchange(float_step<V>, WARP, in, sizeof in, out, sizeof out, line);
  for (int i = 0; i < 4; i++) *c[i] = out[i];
}
#define CUDAPERF_FLOAT_MMA(NAME, V)                                                                                                          \
  inline void NAME(int line, float &c0, float &c1, float &c2, float &c3, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,   \
                   unsigned b1) {                                                                                                            \
    float_mma<V>(line, {&c0, &c1, &c2, &c3}, {a0, a1, a2, a3, b0, b1});                                                                      \
  }
CUDAPERF_FLOAT_MMA(mma_sync_aligned_m16n8k8_row_col_f32_tf32_tf32_f32, Tf32)
CUDAPERF_FLOAT_MMA(mma_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32, Bf16)
CUDAPERF_FLOAT_MMA(mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32, F16)
#undef CUDAPERF_FLOAT_MMA

inline void cvt_rna_tf32_f32(int, unsigned &bits, float x) {
  bits = cudaperf_cast<unsigned>(x);
  if ((bits & 0x7f800000u) != 0x7f800000u) bits = (bits + 0x1000u) & 0xffffe000u;
}
inline unsigned to_bf16(float x) {
  unsigned bits = cudaperf_cast<unsigned>(x);
  if (x != x) return 0x7fffu;
  return (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
}
inline unsigned to_f16(float x) {
  unsigned sign = cudaperf_cast<unsigned>(x) >> 16 & 0x8000u;
  double size = fabs(double(x));
  if (x != x) return 0x7fffu;
  if (size >= 65520.0) return sign | 0x7c00u;
  if (size < ldexp(1.0, -14)) return sign | unsigned(nearbyint(ldexp(size, 24)));
  int exponent;
  double fraction = frexp(size, &exponent);                      // in [0.5, 1): 1 + 10 bits of mantissa are 2048 * fraction
  return sign + (unsigned(exponent + 14) << 10) + unsigned(nearbyint(ldexp(fraction, 11))) - 1024u;
}
inline void cvt_rn_bf16x2_f32(int, unsigned &pair, float high, float low) { pair = to_bf16(high) << 16 | to_bf16(low); }
inline void cvt_rn_f16x2_f32(int, unsigned &pair, float high, float low) { pair = to_f16(high) << 16 | to_f16(low); }

// Asynchronous copies. The target holds the poison byte from the start of the copy to the wait, so a missing wait shows.
struct alignas(4) Bytes4 { unsigned v; };
struct alignas(8) Bytes8 { unsigned long long v; };
struct alignas(16) Bytes16 { unsigned long long v, w; };
template <class B> void start_copy(unsigned address, const void *from, int size) {
  B poison;
  __builtin_memset(&poison, poison_byte(), sizeof poison);
  B *to = static_cast<B *>(shared_pointer(address));
  *to = poison;
  if (size) {
    volatile B probe = *static_cast<const B *>(from);            // bounds and alignment, at the line of the start
    (void)probe;
  }
  copy_issue(to, size ? from : nullptr, sizeof(B));
}
template <class B> void finish_copy(const PendingCopy &copy) {
  *static_cast<B *>(copy.target) = copy.source ? *static_cast<const B *>(copy.source) : B();
}
#define CUDAPERF_ASYNC(CACHE, N) \
  template <class T> void cp_async_##CACHE##_shared_global_##N(int, unsigned address, const T *from, int size) { start_copy<Bytes##N>(address, from, size); }
CUDAPERF_ASYNC(ca, 4)
CUDAPERF_ASYNC(ca, 8)
CUDAPERF_ASYNC(cg, 16)
#undef CUDAPERF_ASYNC
inline void cp_async_commit_group(int) { copy_commit(); }
inline void cp_async_wait_group(int, int left) {
  for (PendingCopy copy; copy_next(left, &copy);) {
    if (copy.size == 4) finish_copy<Bytes4>(copy);
    if (copy.size == 8) finish_copy<Bytes8>(copy);
    if (copy.size == 16) finish_copy<Bytes16>(copy);
  }
}
}  // namespace ptx
}  // namespace cudaperf_emu
