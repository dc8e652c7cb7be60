// Sums over a block: the ways to write them, and to get them wrong.
#include <cuda_runtime.h>

#define THREADS 256
#define FULL_MASK 0xffffffffu

// run: block=256 grid=32 in=float[n] partial=float[32] n=8000
// decides: CP201 CP202 CP203 CP304
__global__ void block_sum(const float *in, float *partial, int n)
{
    __shared__ float sdata[THREADS];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * THREADS + tid;
    sdata[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = THREADS / 2; s > 0; s >>= 1) {
        if (tid < s)
            sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        partial[blockIdx.x] = sdata[0];
}

// run: block=256 grid=32 in=float[n] partial=float[32] n=8000
__global__ void block_sum_unsynchronized(const float *in, float *partial, int n)
{
    __shared__ float sdata[THREADS];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * THREADS + tid;
    sdata[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = THREADS / 2; s > 0; s >>= 1) {
        if (tid < s)
            sdata[tid] += sdata[tid + s]; // expect: CP302@sdata
    }
    if (tid == 0)
        partial[blockIdx.x] = sdata[0];
}

// run: block=256 grid=32 in=float[n] partial=float[32] n=8000
__global__ void block_sum_first_barrier_missing(const float *in, float *partial, int n)
{
    __shared__ float sdata[THREADS];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * THREADS + tid;
    sdata[tid] = i < n ? in[i] : 0.0f; // also: CP302
    for (unsigned s = THREADS / 2; s > 0; s >>= 1) {
        if (tid < s)
            sdata[tid] += sdata[tid + s]; // expect: CP302@sdata
        __syncthreads();
    }
    if (tid == 0)
        partial[blockIdx.x] = sdata[0];
}

// The barrier slipped into the branch.
// run: block=256 grid=32 in=float[n] partial=float[32] n=8000
__global__ void block_sum_barrier_in_branch(const float *in, float *partial, int n)
{
    __shared__ float sdata[THREADS];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * THREADS + tid;
    sdata[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = THREADS / 2; s > 0; s >>= 1) {
        if (tid < s) {
            sdata[tid] += sdata[tid + s]; // also: CP302
            __syncthreads(); // expect: CP301
        }
    }
    if (tid == 0)
        partial[blockIdx.x] = sdata[0]; // also: CP302
}

void sum_all(const float *in, float *partial, int n)
{
    int blocks = (n + THREADS - 1) / THREADS;
    block_sum<<<blocks, THREADS>>>(in, partial, n);
    block_sum_unsynchronized<<<blocks, THREADS>>>(in, partial, n);
    block_sum_first_barrier_missing<<<blocks, THREADS>>>(in, partial, n);
    block_sum_barrier_in_branch<<<blocks, THREADS>>>(in, partial, n);
}

// The last block's idle threads leave, and their elements stay unwritten.
// run: block=256 grid=32 in=float[n] partial=float[32] n=8000
// cudaperf: block=256
__global__ void block_sum_early_return(const float *in, float *partial, int n)
{
    __shared__ float sdata[THREADS];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tid;
    if (i >= n)
        return; // expect: CP306
    sdata[tid] = in[i];
    __syncthreads(); // also: CP306
    for (int s = THREADS / 2; s > 0; s >>= 1) {
        if (tid < s)
            sdata[tid] += sdata[tid + s];
        __syncthreads(); // also: CP306
    }
    if (tid == 0)
        partial[blockIdx.x] = sdata[0];
}

// Interleaved pairs, by multiples: threads far apart, banks the same.
// run: block=256 grid=32 in=float[n] partial=float[32] n=8000
// cudaperf: block=256
__global__ void block_sum_interleaved(const float *in, float *partial, int n)
{
    __shared__ float sdata[THREADS];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tid;
    sdata[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int s = 1; s < THREADS; s *= 2) {
        int at = 2 * s * tid;
        if (at < THREADS)
            sdata[at] += sdata[at + s]; // expect: CP102@sdata
        __syncthreads();
    }
    if (tid == 0)
        partial[blockIdx.x] = sdata[0];
}

// The last warp without __syncwarp(), as code of the days before independent thread scheduling.
// run: block=256 grid=32 in=float[n] partial=float[32] n=8000
// cudaperf: block=256
__global__ void block_sum_volatile_warp(const float *in, float *partial, int n)
{
    __shared__ float sdata[THREADS];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tid;
    sdata[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int s = THREADS / 2; s > 32; s >>= 1) {
        if (tid < s)
            sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid < 32) {
        volatile float *warp = sdata;
        warp[tid] += warp[tid + 32]; // also: CP303
        warp[tid] += warp[tid + 16]; // expect: CP303/CP302
        warp[tid] += warp[tid + 8]; // also: CP303
        warp[tid] += warp[tid + 4]; // also: CP303
        warp[tid] += warp[tid + 2]; // also: CP303
        warp[tid] += warp[tid + 1]; // also: CP303
    }
    if (tid == 0)
        partial[blockIdx.x] = sdata[0];
}

// run: block=256 grid=32 in=float[n] partial=float[32] n=8000
// cudaperf: block=256
// decides: CP304
__global__ void block_sum_synchronized_warp(const float *in, float *partial, int n)
{
    __shared__ float sdata[THREADS];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tid;
    sdata[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int s = THREADS / 2; s > 16; s >>= 1) {
        if (tid < s)
            sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid < 32) {
        float sum = sdata[tid];
        for (int offset = 16; offset > 0; offset >>= 1)
            sum += __shfl_down_sync(FULL_MASK, sum, offset);
        if (tid == 0)
            partial[blockIdx.x] = sum;
    }
}

// run: block=256 grid=32 in=float[n] total=float[1]:zero n=8000
__global__ void sum_shuffle_atomic(const float *in, float *total, int n)
{
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += in[i];
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(FULL_MASK, sum, offset);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(total, sum);
}

// run: block=256 grid=32 in=float[n] total=float[1]:zero n=8000
__global__ void sum_plain_total(const float *in, float *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        *total += in[i]; // expect: CP305@total
}

__device__ float warp_max(float v)
{
    for (int offset = 16; offset > 0; offset >>= 1)
        v = fmaxf(v, __shfl_xor_sync(FULL_MASK, v, offset));
    return v;
}

// run: block=256 grid=8 in=float[n] out=float[8] n=2000
// decides: CP304
__global__ void block_max_two_level(const float *in, float *out, int n)
{
    __shared__ float per_warp[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = warp_max(i < n ? in[i] : -1e30f);
    if (lane == 0)
        per_warp[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < blockDim.x / 32 ? per_warp[lane] : -1e30f;
        v = warp_max(v);
        if (lane == 0)
            out[blockIdx.x] = v;
    }
}

void maximum(const float *in, float *out, int n)
{
    block_max_two_level<<<(n + 255) / 256, 256>>>(in, out, n);
}
