// Mathematics beyond <cmath>: CUDA's min and max, integer and bit-cast intrinsics, rounding intrinsics (round to nearest
// only) and the fast functions, which are computed exactly here: their error on a device is checked there.
#pragma once
#include <math.h>
#include <stdlib.h>

#include <climits>
#include <cstdint>

#define CUDAPERF_MINMAX(A, B, R)                                          \
  inline R min(A a, B b) { R x = (R)a, y = (R)b; return x < y ? x : y; }   \
  inline R max(A a, B b) { R x = (R)a, y = (R)b; return x > y ? x : y; }
CUDAPERF_MINMAX(int, int, int)
CUDAPERF_MINMAX(unsigned, unsigned, unsigned)
CUDAPERF_MINMAX(int, unsigned, unsigned)
CUDAPERF_MINMAX(unsigned, int, unsigned)
CUDAPERF_MINMAX(long, long, long)
CUDAPERF_MINMAX(unsigned long, unsigned long, unsigned long)
CUDAPERF_MINMAX(long, unsigned long, unsigned long)
CUDAPERF_MINMAX(unsigned long, long, unsigned long)
CUDAPERF_MINMAX(long long, long long, long long)
CUDAPERF_MINMAX(unsigned long long, unsigned long long, unsigned long long)
CUDAPERF_MINMAX(long long, unsigned long long, unsigned long long)
CUDAPERF_MINMAX(unsigned long long, long long, unsigned long long)
#undef CUDAPERF_MINMAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(double(a), b); }
inline double min(double a, float b) { return fmin(a, double(b)); }
inline double max(float a, double b) { return fmax(double(a), b); }
inline double max(double a, float b) { return fmax(a, double(b)); }
inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
inline long long llmin(long long a, long long b) { return a < b ? a : b; }
inline long long llmax(long long a, long long b) { return a > b ? a : b; }

inline float rsqrtf(float x) { return float(1.0 / sqrt(double(x))); }
inline double rsqrt(double x) { return double(1.0L / sqrtl((long double)x)); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return float(1.0 / cbrt(double(x))); }
inline double rcbrt(double x) { return double(1.0L / cbrtl((long double)x)); }
inline float sinpif(float x) { return float(sin(M_PI * fmod(double(x), 2.0))); }
inline double sinpi(double x) { return double(sinl(3.14159265358979323846264338327950288L * fmodl(x, 2.0L))); }
inline float cospif(float x) { return float(cos(M_PI * fmod(double(x), 2.0))); }
inline double cospi(double x) { return double(cosl(3.14159265358979323846264338327950288L * fmodl(x, 2.0L))); }
inline void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
inline void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
inline float fdividef(float a, float b) { return a / b; }
inline float saturate(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
inline double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
inline float norm3df(float a, float b, float c) { return float(norm3d(a, b, c)); }
inline float normcdff(float x) { return float(0.5 * erfc(-double(x) * M_SQRT1_2)); }
inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
inline float exp10f_(float x) { return float(pow(10.0, double(x))); }

inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f_(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline void __sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float x) { return saturate(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
#define CUDAPERF_ROUNDED(T, P)                                            \
  inline T __##P##add_rn(T a, T b) { return a + b; }                      \
  inline T __##P##sub_rn(T a, T b) { return a - b; }                      \
  inline T __##P##mul_rn(T a, T b) { return a * b; }
CUDAPERF_ROUNDED(float, f)
CUDAPERF_ROUNDED(double, d)
#undef CUDAPERF_ROUNDED
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; i++) r |= (x >> i & 1u) << (31 - i);
  return r;
}
inline unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)__brev(unsigned(x)) << 32 | __brev(unsigned(x >> 32));
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
  unsigned long long both = (unsigned long long)b << 32 | a;
  unsigned r = 0;
  for (int i = 0; i < 4; i++) r |= unsigned(both >> 8 * (s >> 4 * i & 7) & 0xff) << 8 * i;
  return r;
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) { return unsigned(((unsigned long long)hi << 32 | lo) << (n & 31) >> 32); }
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) { return unsigned(((unsigned long long)hi << 32 | lo) >> (n & 31)); }
inline int __mul24(int a, int b) { return int(unsigned(a << 8 >> 8) * unsigned(b << 8 >> 8)); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
inline unsigned __sad(int a, int b, unsigned c) { return c + (a > b ? unsigned(a) - unsigned(b) : unsigned(b) - unsigned(a)); }
inline int __hadd(int a, int b) { return int(((long long)a + b) >> 1); }
inline int __rhadd(int a, int b) { return int(((long long)a + b + 1) >> 1); }

template <class To, class From> To cudaperf_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
inline int __float_as_int(float x) { return cudaperf_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return cudaperf_cast<unsigned>(x); }
inline float __int_as_float(int x) { return cudaperf_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return cudaperf_cast<float>(x); }
inline long long __double_as_longlong(double x) { return cudaperf_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return cudaperf_cast<double>(x); }
inline int __double2hiint(double x) { return int(cudaperf_cast<unsigned long long>(x) >> 32); }
inline int __double2loint(double x) { return int(unsigned(cudaperf_cast<unsigned long long>(x))); }
inline double __hiloint2double(int hi, int lo) { return cudaperf_cast<double>((unsigned long long)unsigned(hi) << 32 | unsigned(lo)); }

// Conversions saturate and turn NaN into 0, as the hardware's do.
template <class I, class F> I cudaperf_to_int(F x, F low, F high) {
  if (x != x) return 0;
  return x <= low ? (sizeof(I) == 4 && I(-1) > 0 ? 0 : I(low)) : x >= high ? I(I(-1) > 0 ? I(-1) : I((1ull << (8 * sizeof(I) - 1)) - 1)) : I(x);
}
inline int __float2int_rz(float x) { return cudaperf_to_int<int, float>(x, -2147483648.0f, 2147483648.0f); }
inline int __float2int_rn(float x) { return __float2int_rz(rintf(x)); }
inline int __float2int_rd(float x) { return __float2int_rz(floorf(x)); }
inline int __float2int_ru(float x) { return __float2int_rz(ceilf(x)); }
inline int __double2int_rz(double x) { return cudaperf_to_int<int, double>(x, -2147483648.0, 2147483648.0); }
inline int __double2int_rn(double x) { return __double2int_rz(rint(x)); }
inline int __double2int_rd(double x) { return __double2int_rz(floor(x)); }
inline int __double2int_ru(double x) { return __double2int_rz(ceil(x)); }
inline long long __double2ll_rz(double x) { return cudaperf_to_int<long long, double>(x, -9223372036854775808.0, 9223372036854775808.0); }
inline long long __double2ll_rn(double x) { return __double2ll_rz(rint(x)); }
inline float __int2float_rn(int x) { return float(x); }
inline double __int2double_rn(int x) { return double(x); }
inline float __double2float_rn(double x) { return float(x); }
inline float __ll2float_rn(long long x) { return float(x); }
inline double __ll2double_rn(long long x) { return double(x); }
