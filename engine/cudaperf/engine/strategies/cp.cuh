// Device functions that kernels may call. `strategies/cp.py` copies the sections that a kernel needs, each from its marker
// line (slash slash at, then the name it defines) to the next one. No section includes a header; inline assembly holds one
// instruction each, which the emulated executor models under the instruction's name.

//@ cp_plus
struct cp_plus {
    template <class T> __device__ T operator()(T a, T b) const { return a + b; }
};

//@ cp_times
struct cp_times {
    template <class T> __device__ T operator()(T a, T b) const { return a * b; }
};

//@ cp_smaller
struct cp_smaller {
    template <class T> __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};

//@ cp_larger
struct cp_larger {
    template <class T> __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

//@ cp_vector
// N neighbouring elements; aligned to BYTES, they move in loads and stores of that size.
template <class T, int N, int BYTES = N * (int)sizeof(T)> struct alignas(BYTES) cp_vector {
    T at[N];
};

//@ cp_thread_number
// The thread's number in its block; warps are 32 consecutive numbers.
static __device__ inline int cp_thread_number()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

//@ cp_warp_reduce
// v of all 32 lanes combined in a fixed order; every lane gets the result, and every lane must call.
template <class T, class Op> __device__ T cp_warp_reduce(T v, Op op)
{
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
        v = op(v, __shfl_xor_sync(0xffffffffu, v, d));
    return v;
}

//@ cp_block_reduce
// v of all THREADS threads of the block combined in a fixed order; every thread gets the result, and every thread must call.
template <int THREADS, class T, class Op> __device__ T cp_block_reduce(T v, Op op)
{
    static_assert(THREADS % 32 == 0 && THREADS <= 1024, "whole warps only");
    __shared__ T part[THREADS / 32];
    const int thread = cp_thread_number();
    v = cp_warp_reduce(v, op);
    if (thread % 32 == 0)
        part[thread / 32] = v;
    __syncthreads();
    v = part[0];
#pragma unroll
    for (int warp = 1; warp < THREADS / 32; ++warp)
        v = op(v, part[warp]);
    __syncthreads(); // `part` may be written again
    return v;
}

//@ cp_warp_inclusive_scan
// Lane L gets v of lanes 0 to L combined, in lane order; every lane must call.
template <class T, class Op> __device__ T cp_warp_inclusive_scan(T v, Op op)
{
    const int lane = cp_thread_number() % 32;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const T below = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d)
            v = op(below, v);
    }
    return v;
}

//@ cp_block_inclusive_scan
// Thread t gets v of threads 0 to t combined, in thread order; every one of the THREADS threads must call.
template <int THREADS, class T, class Op> __device__ T cp_block_inclusive_scan(T v, Op op)
{
    static_assert(THREADS % 32 == 0 && THREADS <= 1024, "whole warps only");
    __shared__ T last[THREADS / 32];
    const int thread = cp_thread_number();
    v = cp_warp_inclusive_scan(v, op);
    if (thread % 32 == 31)
        last[thread / 32] = v;
    __syncthreads();
    if (thread >= 32) {
        T before = last[0];
        for (int warp = 1; warp < thread / 32; ++warp)
            before = op(before, last[warp]);
        v = op(before, v);
    }
    __syncthreads(); // `last` may be written again
    return v;
}

//@ cp_mma_f64_8x8x4
// c += a * b for an 8x4 by 4x8 product held by a warp. Lane L, with g = L / 4 and q = L % 4, holds a: row g, column q;
// b: row q, column g; c: row g, columns 2q and 2q + 1. Needs compute capability 8.0; before it, the same sums by shuffles.
__device__ inline void cp_mma_f64_8x8x4(double (&c)[2], double a, double b)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(c[0]), "+d"(c[1]) : "d"(a), "d"(b));
#else
    const int lane = (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const double row = __shfl_sync(0xffffffffu, a, lane / 4 * 4 + k);
        c[0] = fma(row, __shfl_sync(0xffffffffu, b, lane % 4 * 8 + k), c[0]);
        c[1] = fma(row, __shfl_sync(0xffffffffu, b, lane % 4 * 8 + 4 + k), c[1]);
    }
#endif
}

//@ cp_mma_f64_16x8x16
// c += a * b for a 16x16 by 16x8 product held by a warp. Lane L, with g = L / 4 and q = L % 4, holds a[i]: row g + 8 (i % 2),
// column q + 4 (i / 2); b[i]: row q + 4 i, column g; c[i]: row g + 8 (i / 2), column 2q + i % 2. One instruction on 9.0.
static __device__ inline void cp_mma_f64_16x8x16(double (&c)[4], const double (&a)[8], const double (&b)[4])
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
                 "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
                 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
                   "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        double sum[2] = {c[2 * half], c[2 * half + 1]};
#pragma unroll
        for (int k = 0; k < 4; ++k)
            cp_mma_f64_8x8x4(sum, a[2 * k + half], b[k]);
        c[2 * half] = sum[0];
        c[2 * half + 1] = sum[1];
    }
#endif
}

//@ cp_cvt_tf32
// x rounded to tf32 (10 bits of mantissa, ties away from zero), as the bits of a float.
static __device__ inline unsigned cp_cvt_tf32(float x)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
#else
    const unsigned bits = __float_as_uint(x);
    return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & 0xffffe000u;
#endif
}

//@ cp_mma_tf32_16x8x8
// c += a * b for a 16x8 by 8x8 product of tf32 values (see cp_cvt_tf32), sums in float. Lane L, with g = L / 4, q = L % 4, holds
// a[i]: row g + 8 (i % 2), column q + 4 (i / 2); b[i]: row q + 4 i, column g; c[i]: row g + 8 (i / 2), column 2q + i % 2. Needs 8.0.
static __device__ inline void cp_mma_tf32_16x8x8(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    __trap();
#endif
}

//@ cp_mma_bf16_16x8x16
// c += a * b for a 16x16 by 16x8 product of bfloat16 pairs (the lower column, or row of b, in the low half), sums in float.
// Lane L, with g = L / 4, q = L % 4, holds a[i]: row g + 8 (i % 2), columns 2q + 8 (i / 2) and the next; b[i]: rows 2q + 8 i
// and the next, column g; c[i]: row g + 8 (i / 2), column 2q + i % 2. Needs 8.0.
static __device__ inline void cp_mma_bf16_16x8x16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    __trap();
#endif
}

//@ cp_mma_f16_16x8x16
// The same for IEEE half precision, sums in float. Needs 8.0.
static __device__ inline void cp_mma_f16_16x8x16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    __trap();
#endif
}

//@ cp_pack_bf16
// Two floats rounded to bfloat16 (to nearest even), `low` in the low half. Needs 8.0.
static __device__ inline unsigned cp_pack_bf16(float low, float high)
{
    unsigned pair = 0;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#else
    __trap();
#endif
    return pair;
}

//@ cp_pack_f16
// Two floats rounded to half precision (to nearest even), `low` in the low half. Needs 8.0.
static __device__ inline unsigned cp_pack_f16(float low, float high)
{
    unsigned pair = 0;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#else
    __trap();
#endif
    return pair;
}

//@ cp_async_b32
// Starts a copy of 4 bytes to shared memory, or of zeros where `valid` is false (`from` is then not read, and must still be an
// address in global memory). There after cp_async_wait. A plain copy before compute capability 8.0.
template <class T> __device__ inline void cp_async_b32(T *to, const T *from, bool valid = true)
{
    static_assert(sizeof(T) == 4, "4-byte elements");
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const unsigned address = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(valid ? 4 : 0) : "memory");
#else
    *to = valid ? *from : T();
#endif
}

//@ cp_async_b64
// The same for 8 bytes, aligned to 8.
template <class T> __device__ inline void cp_async_b64(T *to, const T *from, bool valid = true)
{
    static_assert(sizeof(T) == 8, "8-byte elements");
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const unsigned address = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(address), "l"(from), "r"(valid ? 8 : 0) : "memory");
#else
    *to = valid ? *from : T();
#endif
}

//@ cp_async_b128
// The same for 16 bytes, aligned to 16: `to` and `from` point to the first of 16 / sizeof(T) elements.
template <class T> __device__ inline void cp_async_b128(T *to, const T *from, bool valid = true)
{
    static_assert(16 % sizeof(T) == 0, "elements that divide 16 bytes");
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const unsigned address = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(valid ? 16 : 0) : "memory");
#else
    *(uint4 *)to = valid ? *(const uint4 *)from : make_uint4(0, 0, 0, 0);
#endif
}

//@ cp_async_16
// Starts a copy of 16 bytes, aligned to 16, from global to shared memory; there after cp_async_wait.
static __device__ inline void cp_async_16(void *to, const void *from)
{
    cp_async_b128((uint4 *)to, (const uint4 *)from);
}

//@ cp_async_commit
// Closes a group: the copies that this thread started since the last one.
static __device__ inline void cp_async_commit()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

//@ cp_async_wait
// Waits until at most N of this thread's latest groups are under way. Other threads see the copies after a barrier.
template <int N> __device__ inline void cp_async_wait()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}
