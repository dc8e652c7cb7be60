// Atomics as the host compiler's atomics, so that the race detector knows them. Relaxed, as CUDA's are; after a fence in the
// same thread they order memory (the pattern of a last block that sums the partial results).
#pragma once
#include "device.h"

namespace cudaperf_emu {
template <class T> T atomic_load(T *p) {
  T value;
  if (fenced) __atomic_load(p, &value, __ATOMIC_ACQUIRE);
  else __atomic_load(p, &value, __ATOMIC_RELAXED);
  return value;
}
template <class T> bool atomic_cas(T *p, T *expected, T *desired) {
  if (fenced) return __atomic_compare_exchange(p, expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return __atomic_compare_exchange(p, expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
// Floating-point values go through an integer of the same size: a compare-and-swap compares bits, as the hardware does.
template <class T, class F> T atomic_update(T *p, F next) {
  using Bits = typename std::conditional<sizeof(T) == 8, unsigned long long, typename std::conditional<sizeof(T) == 4, unsigned, unsigned short>::type>::type;
  Bits *bits = reinterpret_cast<Bits *>(p);
  Bits old = atomic_load(bits);
  for (;;) {
    T current;
    __builtin_memcpy(&current, &old, sizeof current);
    T changed = next(current);
    Bits desired;
    __builtin_memcpy(&desired, &changed, sizeof desired);
    if (atomic_cas(bits, &old, &desired)) return current;
  }
}
template <class T> struct Same { using type = T; };
template <class T> using Value = typename Same<T>::type;  // no deduction from the second argument
template <class T> T wrapping_add(T a, T b) {
  if constexpr (std::is_integral<T>::value) return T(typename std::make_unsigned<T>::type(a) + typename std::make_unsigned<T>::type(b));
  else return a + b;
}
template <class T> T wrapping_sub(T a, T b) {
  if constexpr (std::is_integral<T>::value) return T(typename std::make_unsigned<T>::type(a) - typename std::make_unsigned<T>::type(b));
  else return a - b;
}
}  // namespace cudaperf_emu

#define CUDAPERF_ATOMIC(NAME, TYPES, EXPRESSION)                                                      \
  template <class T> T NAME(T *p, cudaperf_emu::Value<T> v) {                                         \
    static_assert(TYPES, #NAME " does not exist for this type");                                      \
    return cudaperf_emu::atomic_update(p, [v](T old) { (void)old; return T(EXPRESSION); });           \
  }                                                                                                   \
  template <class T> T NAME##_block(T *p, cudaperf_emu::Value<T> v) { return NAME(p, v); }            \
  template <class T> T NAME##_system(T *p, cudaperf_emu::Value<T> v) { return NAME(p, v); }
#define CUDAPERF_INT (std::is_integral<T>::value && (sizeof(T) == 4 || sizeof(T) == 8))
#define CUDAPERF_UINT (std::is_same<T, unsigned>::value)
// CUDA has these for int, unsigned and unsigned long long; for long and long long only where listed in its guide.
#define CUDAPERF_NUMBER (std::is_same<T, int>::value || std::is_same<T, unsigned>::value || std::is_same<T, unsigned long long>::value || std::is_same<T, float>::value || std::is_same<T, double>::value)
CUDAPERF_ATOMIC(atomicAdd, CUDAPERF_NUMBER, cudaperf_emu::wrapping_add(old, v))
CUDAPERF_ATOMIC(atomicSub, (std::is_same<T, int>::value || CUDAPERF_UINT), cudaperf_emu::wrapping_sub(old, v))
CUDAPERF_ATOMIC(atomicMin, CUDAPERF_INT, old < v ? old : v)
CUDAPERF_ATOMIC(atomicMax, CUDAPERF_INT, old > v ? old : v)
CUDAPERF_ATOMIC(atomicAnd, CUDAPERF_INT, old & v)
CUDAPERF_ATOMIC(atomicOr, CUDAPERF_INT, old | v)
CUDAPERF_ATOMIC(atomicXor, CUDAPERF_INT, old ^ v)
CUDAPERF_ATOMIC(atomicExch, (CUDAPERF_NUMBER && !std::is_same<T, double>::value), v)
CUDAPERF_ATOMIC(atomicInc, CUDAPERF_UINT, old >= v ? 0u : old + 1)
CUDAPERF_ATOMIC(atomicDec, CUDAPERF_UINT, (old == 0 || old > v) ? v : old - 1)
#undef CUDAPERF_ATOMIC
template <class T> T atomicCAS(T *p, cudaperf_emu::Value<T> compare, cudaperf_emu::Value<T> value) {
  static_assert(std::is_integral<T>::value && (sizeof(T) == 4 || sizeof(T) == 8 || std::is_same<T, unsigned short>::value), "atomicCAS takes integers");
  T expected = compare;
  cudaperf_emu::atomic_cas(p, &expected, &value);
  return expected;
}
template <class T> T atomicCAS_block(T *p, cudaperf_emu::Value<T> c, cudaperf_emu::Value<T> v) { return atomicCAS(p, c, v); }
template <class T> T atomicCAS_system(T *p, cudaperf_emu::Value<T> c, cudaperf_emu::Value<T> v) { return atomicCAS(p, c, v); }

#define CUDAPERF_LOAD(NAME) template <class T> T NAME(const T *p) { return *p; }
CUDAPERF_LOAD(__ldg)
CUDAPERF_LOAD(__ldcg)
CUDAPERF_LOAD(__ldca)
CUDAPERF_LOAD(__ldcs)
CUDAPERF_LOAD(__ldlu)
CUDAPERF_LOAD(__ldcv)
#undef CUDAPERF_LOAD
#define CUDAPERF_STORE(NAME) template <class T> void NAME(T *p, cudaperf_emu::Value<T> v) { *p = v; }
CUDAPERF_STORE(__stwb)
CUDAPERF_STORE(__stcg)
CUDAPERF_STORE(__stcs)
CUDAPERF_STORE(__stwt)
#undef CUDAPERF_STORE
