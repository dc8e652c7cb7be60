// What kernels see: qualifiers, built-in variables, barriers, votes, shuffles, and the launch syntax's target.
#pragma once
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "api.h"
#include "interface.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())

extern "C" const uint3 threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;

#define __syncthreads() ::cudaperf_emu::barrier(__LINE__)
#define __syncthreads_count(p) ::cudaperf_emu::barrier_vote(::cudaperf_emu::Vote::COUNT, (p), __LINE__)
#define __syncthreads_and(p) ::cudaperf_emu::barrier_vote(::cudaperf_emu::Vote::AND, (p), __LINE__)
#define __syncthreads_or(p) ::cudaperf_emu::barrier_vote(::cudaperf_emu::Vote::OR, (p), __LINE__)
#define __syncwarp(...) ::cudaperf_emu::WarpSync{__LINE__}(__VA_ARGS__)
#define __activemask() ::cudaperf_emu::active_mask(__LINE__)
#define __shfl_sync(...) ::cudaperf_emu::shuffle(::cudaperf_emu::Collective::SHFL, __LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) ::cudaperf_emu::shuffle(::cudaperf_emu::Collective::SHFL_UP, __LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) ::cudaperf_emu::shuffle(::cudaperf_emu::Collective::SHFL_DOWN, __LINE__, __VA_ARGS__)
#define __shfl_xor_sync(...) ::cudaperf_emu::shuffle(::cudaperf_emu::Collective::SHFL_XOR, __LINE__, __VA_ARGS__)
#define __ballot_sync(mask, p) ::cudaperf_emu::ballot(__LINE__, (mask), (p))
#define __any_sync(mask, p) (::cudaperf_emu::ballot(__LINE__, (mask), (p)) != 0)
#define __all_sync(mask, p) (::cudaperf_emu::ballot(__LINE__, (mask), !(p)) == 0)
#define __match_any_sync(mask, v) ::cudaperf_emu::match_any(__LINE__, (mask), (v))
#define __match_all_sync(mask, v, same) ::cudaperf_emu::match_all(__LINE__, (mask), (v), (same))
#define __reduce_add_sync(mask, v) ::cudaperf_emu::reduce<::cudaperf_emu::Add>(__LINE__, (mask), (v))
#define __reduce_min_sync(mask, v) ::cudaperf_emu::reduce<::cudaperf_emu::Min>(__LINE__, (mask), (v))
#define __reduce_max_sync(mask, v) ::cudaperf_emu::reduce<::cudaperf_emu::Max>(__LINE__, (mask), (v))
#define __reduce_and_sync(mask, v) ::cudaperf_emu::reduce<::cudaperf_emu::And>(__LINE__, (mask), (v))
#define __reduce_or_sync(mask, v) ::cudaperf_emu::reduce<::cudaperf_emu::Or>(__LINE__, (mask), (v))
#define __reduce_xor_sync(mask, v) ::cudaperf_emu::reduce<::cudaperf_emu::Xor>(__LINE__, (mask), (v))
#define __threadfence() ::cudaperf_emu::fence()
#define __threadfence_block() ::cudaperf_emu::fence()
#define __threadfence_system() ::cudaperf_emu::fence()
#define __trap() __builtin_trap()
#define __nanosleep(ns) ((void)(ns))
inline long long clock64() { return (long long)cudaperf_emu::clock_ticks(); }

// Instrumented code that moves other lanes' values must not be seen by the race detector: a collective is no memory access.
#define CUDAPERF_UNSEEN __attribute__((no_sanitize("thread"), no_sanitize("address")))

namespace cudaperf_emu {
template <class T> std::uint64_t to_bits(const T &value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "warp functions take values of up to 64 bits");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T> T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
struct WarpSync {
  int line;
  void operator()(unsigned mask = 0xffffffffu) const { collective(Collective::SYNC, mask, {0, 0, 32}, line); }
};
template <class T> T shuffle(Collective kind, int line, unsigned mask, T value, int parameter, int width = 32) {
  return from_bits<T>(collective(kind, mask, {to_bits(value), parameter, width}, line));
}
inline unsigned ballot(int line, unsigned mask, int predicate) {
  return unsigned(collective(Collective::BALLOT, mask, {std::uint64_t(predicate != 0), 0, 32}, line));
}
template <class T> unsigned match_any(int line, unsigned mask, T value) {
  return unsigned(collective(Collective::MATCH_ANY, mask, {to_bits(value), 0, 32}, line));
}
template <class T> unsigned match_all(int line, unsigned mask, T value, int *same) {
  unsigned lanes = unsigned(collective(Collective::MATCH_ALL, mask, {to_bits(value), 0, 32}, line));
  *same = lanes != 0;
  return lanes;
}

struct Add { template <class T> static T of(T a, T b) { return T(std::uint32_t(a) + std::uint32_t(b)); } };
struct Min { template <class T> static T of(T a, T b) { return a < b ? a : b; } };
struct Max { template <class T> static T of(T a, T b) { return a > b ? a : b; } };
struct And { template <class T> static T of(T a, T b) { return a & b; } };
struct Or { template <class T> static T of(T a, T b) { return a | b; } };
struct Xor { template <class T> static T of(T a, T b) { return a ^ b; } };
template <class Op, class T> CUDAPERF_UNSEEN void reduce_lanes(unsigned mask, unsigned char (*in)[EXCHANGE_BYTES], unsigned char (*out)[EXCHANGE_BYTES]) {
  T total{};
  bool first = true;
  for (unsigned i = 0; i < 32; i++) {
    if (!(mask >> i & 1)) continue;
    T value;
    __builtin_memcpy(&value, in[i], sizeof value);
    total = first ? value : Op::of(total, value);
    first = false;
  }
  for (unsigned i = 0; i < 32; i++) __builtin_memcpy(out[i], &total, sizeof total);
}
template <class Op, class T> T reduce(int line, unsigned mask, T value) {
  static_assert(sizeof(T) == 4 && std::is_integral<T>::value, "__reduce_*_sync takes 32-bit integers");
  T result;
  exchange(reduce_lanes<Op, T>, mask, &value, sizeof value, &result, sizeof result, line);
  return result;
}

// kernel<<<grid, block, shared, stream>>>(arguments)  ->  launch("kernel", line, grid, block, shared, stream)(kernel)(arguments)
template <class P> void check_argument(const Call &call, unsigned position, const P &value) {
  if constexpr (std::is_pointer<P>::value && !std::is_function<typename std::remove_pointer<P>::type>::value)
    check_pointer(call.name, call.line, position, (const void *)value);
}
template <class... P> struct Bound {
  Call call;
  void (*kernel)(P...);
  void operator()(P... arguments) const {
    unsigned position = 0;
    (check_argument(call, position++, arguments), ...);
    (void)position;
    submit(call, (const void *)kernel, [kernel = kernel, all = std::tuple<P...>(arguments...)] { std::apply(kernel, all); });
  }
};
struct Launcher {
  Call call;
  template <class... P> Bound<P...> operator()(void (*kernel)(P...)) const { return {call, kernel}; }
};
inline Launcher launch(const char *name, int line, dim3 grid, dim3 block, std::size_t shared = 0, cudaStream_t stream = nullptr) {
  return {{name, line, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream}};
}
struct Bounds { Bounds(const void *kernel, int threads) { register_bounds(kernel, threads); } };
struct UsesCopies { UsesCopies() { register_copies(); } };
// `extern __shared__ T name[];` at file scope.
template <class T> struct DynamicShared {
  operator T *() const { return static_cast<T *>(dynamic_shared()); }
  template <class U> explicit operator U *() const { return static_cast<U *>(dynamic_shared()); }
};
}  // namespace cudaperf_emu
