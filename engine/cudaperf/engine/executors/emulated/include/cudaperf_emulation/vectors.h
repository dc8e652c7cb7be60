// CUDA's vector types with their alignments, make_* functions and dim3.
#pragma once

#define CUDAPERF_VECTORS(T, N, A2, A4)                                                             \
  struct N##1 { T x; };                                                                            \
  struct alignas(A2) N##2 { T x, y; };                                                             \
  struct N##3 { T x, y, z; };                                                                      \
  struct alignas(A4) N##4 { T x, y, z, w; };                                                       \
  inline N##1 make_##N##1(T x) { return {x}; }                                                     \
  inline N##2 make_##N##2(T x, T y) { return {x, y}; }                                             \
  inline N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; }                                     \
  inline N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }

CUDAPERF_VECTORS(signed char, char, 2, 4)
CUDAPERF_VECTORS(unsigned char, uchar, 2, 4)
CUDAPERF_VECTORS(short, short, 4, 8)
CUDAPERF_VECTORS(unsigned short, ushort, 4, 8)
CUDAPERF_VECTORS(int, int, 8, 16)
CUDAPERF_VECTORS(unsigned int, uint, 8, 16)
CUDAPERF_VECTORS(long, long, 2 * sizeof(long), 16)
CUDAPERF_VECTORS(unsigned long, ulong, 2 * sizeof(long), 16)
CUDAPERF_VECTORS(long long, longlong, 16, 16)
CUDAPERF_VECTORS(unsigned long long, ulonglong, 16, 16)
CUDAPERF_VECTORS(float, float, 8, 16)
CUDAPERF_VECTORS(double, double, 16, 16)
#undef CUDAPERF_VECTORS

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
