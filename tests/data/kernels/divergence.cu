// Which threads reach which barrier.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// run: block=128 grid=4 in=float[n] out=float[n] n=512
__global__ void first_warp_waits_alone(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.f; // also: CP302
    if (t < 32) {
        s[t] *= 0.5f; // also: CP302
        __syncthreads(); // expect: CP301
    }
    float v = s[127 - t]; // also: CP302
    __syncthreads(); // also: CP301
    if (i < n)
        out[i] = v;
}

// Both sides have a barrier of their own, and they are not the same one.
// run: block=128 grid=4 in=float[n] out=float[n] n=512
__global__ void barrier_on_each_side(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t % 2 == 0) {
        s[t] = i < n ? in[i] : 0.f; // also: CP302; CP101
        __syncthreads(); // expect: CP301
    } else {
        s[t] = i < n ? -in[i] : 0.f; // also: CP302; CP101
        __syncthreads(); // expect: CP301
    }
    if (i < n)
        out[i] = s[127 - t]; // also: CP302
}

// run: block=128 grid=4 in=float[n] out=float[n] n=512
// decides: CP304
__global__ void one_barrier_behind_both(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t % 2 == 0)
        s[t] = i < n ? in[i] : 0.f; // also: CP101
    else
        s[t] = i < n ? -in[i] : 0.f; // also: CP101
    __syncthreads();
    if (i < n)
        out[i] = s[127 - t];
}

void branches(const float *in, float *out, int n)
{
    first_warp_waits_alone<<<(n + 127) / 128, 128>>>(in, out, n);
    barrier_on_each_side<<<(n + 127) / 128, 128>>>(in, out, n);
    one_barrier_behind_both<<<(n + 127) / 128, 128>>>(in, out, n);
}

// run: block=64 grid=4 in=int[n]:below(10) out=int[n] n=256
// cudaperf: block=64
__global__ void barrier_if_value_is_large(const int *in, int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = in[i]; // also: CP302
    if (s[t] > 4)
        __syncthreads(); // expect: CP301
    int other = s[63 - t]; // also: CP302
    __syncthreads(); // also: CP301
    out[i] = other;
}

// The value is the block's, read by every thread from one place.
// run: block=64 grid=4 mode=int[4]:below(2) in=int[n] out=int[n] n=256
// cudaperf: block=64
// decides: CP304
__global__ void barrier_if_block_mode(const int *mode, const int *in, int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (mode[blockIdx.x] == 1) {
        s[t] = in[i];
        __syncthreads();
        out[i] = s[63 - t];
    } else {
        out[i] = in[i];
    }
}

// run: block=16x16 grid=2x2 in=float[n] out=float[n] n=1024
// cudaperf: block=16x16
__global__ void barrier_in_upper_rows(const float *in, float *out, int n)
{
    __shared__ float s[256];
    int t = threadIdx.y * 16 + threadIdx.x, i = (blockIdx.y * 2 + blockIdx.x) * 256 + t;
    s[t] = in[i]; // also: CP302
    if (threadIdx.y < 8)
        __syncthreads(); // expect: CP301
    out[i] = s[255 - t]; // also: CP302
}

__device__ void settle(float *s, int t)
{
    __syncthreads(); // also: CP301
    s[t] += 1.0f;
    __syncthreads(); // also: CP301
}

// The barrier is in the function that only some threads call.
// run: block=64 grid=4 in=float[n] out=float[n] n=256
// cudaperf: block=64
__global__ void calls_barrier_in_branch(const float *in, float *out, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = in[i]; // also: CP302
    if (in[i] > 0.5f)
        settle(s, t); // expect: CP301
    out[i] = s[63 - t]; // also: CP302
}

__device__ float shifted(const float *s, int t)
{
    __syncthreads();
    float v = s[(t + 1) % 64];
    __syncthreads();
    return v;
}

// run: block=64 grid=4 in=float[n] out=float[n] n=256 passes=3
// cudaperf: block=64
__global__ void calls_barrier_in_loop(const float *in, float *out, int n, int passes)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = in[i];
    for (int p = 0; p < passes; ++p) {
        float v = shifted(s, t);
        s[t] = v;
    }
    __syncthreads();
    out[i] = s[63 - t];
}

// break for some threads, a barrier for the others.
// run: block=64 grid=4 in=float[n] out=float[n] n=256
__global__ void break_before_barrier(const float *in, float *out, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = i < n ? in[i] : 0.f;
    for (int k = 0; k < 16; ++k) {
        if (v > 4.f)
            break;
        s[t] = v; // also: CP302
        __syncthreads(); // expect: CP301
        v += s[t ^ 1]; // also: CP302; CP303
        __syncthreads(); // also: CP301
    }
    if (i < n)
        out[i] = v;
}

// run: block=64 grid=4 in=float[n] out=float[n] n=256
__global__ void vote_then_break(const float *in, float *out, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = i < n ? in[i] : 0.f;
    for (int k = 0; k < 16; ++k) {
        if (__syncthreads_and(v > 4.f))
            break;
        s[t] = v;
        __syncthreads();
        if (v <= 4.f)
            v += s[t ^ 1];
    }
    if (i < n)
        out[i] = v;
}

// A grid-stride loop with a barrier: the last round is not everybody's.
// run: block=128 grid=2 in=float[n] out=float[n] n=1000
// decides: CP201 CP202 CP203
__global__ void grid_stride_barrier(const float *in, float *out, int n)
{
    __shared__ float s[128];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        s[threadIdx.x] = in[i]; // also: CP302
        __syncthreads(); // expect: CP301
        out[i] = s[threadIdx.x] - s[0]; // also: CP302
        __syncthreads(); // also: CP301
    }
}

// run: block=128 grid=2 in=float[n] out=float[n] n=1000
// decides: CP201 CP202 CP203 CP304
__global__ void block_stride_barrier(const float *in, float *out, int n)
{
    __shared__ float s[128];
    for (int base = blockIdx.x * blockDim.x; base < n; base += gridDim.x * blockDim.x) {
        int i = base + threadIdx.x;
        s[threadIdx.x] = i < n ? in[i] : 0.f;
        __syncthreads();
        if (i < n)
            out[i] = s[threadIdx.x] - s[0];
        __syncthreads();
    }
}

void walks(const float *in, float *out, int n)
{
    break_before_barrier<<<n / 64, 64>>>(in, out, n);
    vote_then_break<<<n / 64, 64>>>(in, out, n);
    grid_stride_barrier<<<2, 128>>>(in, out, n); // expect: CP203
    block_stride_barrier<<<2, 128>>>(in, out, n); // expect: CP203
}

// switch over the thread.
// run: block=96 grid=2 in=float[n] out=float[n] n=192
// cudaperf: block=96
__global__ void barrier_in_one_case(const float *in, float *out, int n)
{
    __shared__ float s[96];
    int t = threadIdx.x, i = blockIdx.x * 96 + t;
    s[t] = in[i]; // also: CP302
    switch (t % 3) {
    case 0:
        s[t] = 0.f; // also: CP302
        break;
    case 1:
        __syncthreads(); // expect: CP301
        break;
    default:
        break;
    }
    out[i] = s[95 - t]; // also: CP302
}

// run: block=128 grid=4 in=float[n] out=float[n] n=512
// cudaperf: block=128
__global__ void groups_of_a_warp(const float *in, float *out, int n)
{
    __shared__ float s[128];
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    tile.sync();
    out[i] = s[t ^ 7];
}

// run: block=128 grid=4 in=float[n] out=float[n] n=512 rounds=5
// cudaperf: block=128
// decides: CP304
__global__ void uniform_while(const float *in, float *out, int n, int rounds)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, left = rounds;
    s[t] = in[i];
    while (left-- > 0) {
        __syncthreads();
        float v = s[(t + 1) & 127];
        __syncthreads();
        s[t] = v;
    }
    out[i] = s[t];
}
