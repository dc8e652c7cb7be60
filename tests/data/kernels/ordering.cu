// Barriers that look idle and are not.
#include <cuda_runtime.h>

// The neighbour is in the same warp: it still has to be waited for.
// run: block=128 grid=4 in=float[n] out=float[n] n=512
// cudaperf: block=128
// decides: CP304
__global__ void neighbour_lane(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    __syncthreads();
    out[i] = s[t ^ 1];
}

// The exchange goes through global memory.
// run: block=128 grid=4 a=float[n] n=512
// cudaperf: block=128
// decides: CP304
__global__ void mirror_in_global(float *a, int n)
{
    int t = threadIdx.x, base = blockIdx.x * 128;
    float mine = a[base + t];
    __syncthreads();
    a[base + 127 - t] = mine;
}

// Thread 0 writes, all read.
// run: block=64 grid=4 scale=float[4] x=float[256]
// cudaperf: block=64
// decides: CP304
__global__ void one_for_all(const float *scale, float *x)
{
    __shared__ float s;
    if (threadIdx.x == 0)
        s = scale[blockIdx.x];
    __syncthreads();
    x[blockIdx.x * 64 + threadIdx.x] *= s;
}

// Where the value goes is not known here.
// run: block=128 grid=4 place=int[128]:perm in=float[n] out=float[n] n=512
// cudaperf: block=128
// decides: CP304
__global__ void permute_in_block(const int *place, const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[place[t] & 127] = in[i]; // silent: CP102; CP302; CP305
    __syncthreads();
    out[i] = s[t]; // silent: CP302
}

// Reading must end before the same elements are written.
// run: block=128 grid=4 in=float[n] out=float[n] n=512
// cudaperf: block=128
// decides: CP304
__global__ void read_before_overwriting(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    __syncthreads();
    float other = s[(t + 64) & 127];
    __syncthreads();
    s[t] = 0.5f * (s[t] + other);
    __syncthreads();
    out[i] = s[127 - t];
}

// Counts by atomics, then their sum by one thread.
// run: block=128 grid=4 in=int[n]:below(8) out=int[4] n=512
// cudaperf: block=128
// decides: CP304
__global__ void count_then_pick(const int *in, int *out, int n)
{
    __shared__ int count[8];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    if (t < 8)
        count[t] = 0;
    __syncthreads();
    atomicAdd(&count[in[i] & 7], 1); // silent: CP102
    __syncthreads();
    if (t == 0) {
        int most = 0;
        for (int k = 1; k < 8; ++k)
            if (count[k] > count[most])
                most = k;
        out[blockIdx.x] = most;
    }
}

// What all threads have written must be there before thread 0 tells other blocks of it.
// run: block=128 grid=4 in=float[n] out=float[n] ready=int[1]:zero n=512
// cudaperf: block=128
// decides: CP304
__global__ void publish_a_block(const float *in, float *out, int *ready, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    out[i] = in[i] * in[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(ready, 1);
}

// A test that no block of a large array passes stands before the exchange.
// run: block=128 grid=4 in=float[n] out=float[n] n=512 last=3
// cudaperf: block=128
// decides: CP304
__global__ void mirror_last_block(const float *in, float *out, int n, int last)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    __syncthreads();
    out[i] = s[t];
    if (blockIdx.x == last)
        out[i] = s[127 - t];
}
