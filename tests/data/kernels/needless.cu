// Barriers that order nothing, next to some that do.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// Nothing follows the last one.
// run: block=128 grid=8 in=float[n] out=float[n] n=1024
// decides: CP304
__global__ void barrier_at_the_end(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = i < n ? in[i] : 0.f;
    __syncthreads();
    if (i < n)
        out[i] = s[127 - t];
    __syncthreads(); // expect: CP304
}

void with_end(const float *in, float *out, int n)
{
    barrier_at_the_end<<<(n + 127) / 128, 128>>>(in, out, n);
}

// Nothing precedes the first one.
// run: block=64 grid=8 in=int[n] out=int[n] n=512
// cudaperf: block=64
// decides: CP304
__global__ void barrier_at_the_start(const int *in, int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    __syncthreads(); // expect: CP304
    s[t] = in[i];
    __syncthreads();
    out[i] = s[t] + s[(t + 1) & 63];
}

// The second barrier orders the first array, too.
// run: block=128 grid=4 a=float[n] b=float[n] out=float[n] n=512
// cudaperf: block=128
// decides: CP304
__global__ void barrier_between_two_loads(const float *a, const float *b, float *out, int n)
{
    __shared__ float left[128], right[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    left[t] = a[i];
    __syncthreads(); // expect: CP304
    right[t] = b[i];
    __syncthreads(); // also: CP304
    out[i] = left[127 - t] * right[127 - t];
}

// Reading after reading.
// run: block=128 grid=4 in=float[n] out=float[n] n=512
// cudaperf: block=128
// decides: CP304
__global__ void barrier_between_reads(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    __syncthreads();
    float sum = s[(t + 1) & 127];
    __syncthreads(); // expect: CP304
    sum += s[(t + 2) & 127];
    out[i] = sum;
}

// Shared memory as a place for each thread's own value, in a loop.
// run: block=128 grid=4 in=float[8*n] out=float[n] n=512
// cudaperf: block=128
// decides: CP304
__global__ void private_slot_in_loop(const float *in, float *out, int n)
{
    __shared__ float slot[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float sum = 0.f;
    for (int k = 0; k < 8; ++k) {
        slot[t] = in[k * n + i];
        __syncthreads(); // expect: CP304
        sum += slot[t] * slot[t];
        __syncthreads(); // expect: CP304
    }
    out[i] = sum;
}

// Each thread's own element of global memory.
// run: block=256 grid=4 x=float[n] y=float[n] n=1000
// decides: CP304
__global__ void two_passes_over_own(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * x[i];
    __syncthreads(); // expect: CP304
    if (i < n)
        y[i] = y[i] + 1.f;
}

void passes(const float *x, float *y, int n)
{
    two_passes_over_own<<<(n + 255) / 256, 256>>>(x, y, n);
}

// The buffers change with each step: one barrier is enough, there are two.
// run: block=128 grid=2 data=float[256] steps=6
// cudaperf: block=128
// decides: CP304
__global__ void two_barriers_a_step(float *data, int steps)
{
    __shared__ float buffer[2][128];
    int t = threadIdx.x, from = 0;
    buffer[0][t] = data[blockIdx.x * 128 + t];
    __syncthreads();
    for (int k = 0; k < steps; ++k) {
        buffer[1 - from][t] = 0.5f * (buffer[from][t] + buffer[from][(t + 1) & 127]);
        __syncthreads(); // also: CP304
        from = 1 - from;
        __syncthreads(); // expect: CP304
    }
    data[blockIdx.x * 128 + t] = buffer[from][t];
}

// Shuffles wait by themselves.
// run: block=64 grid=8 in=float[n] out=float[16] n=512
// cudaperf: block=64
// decides: CP304
__global__ void barrier_after_shuffles(const float *in, float *out, int n)
{
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float v = i < n ? in[i] : 0.f;
    for (int o = 16; o > 0; o >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, o);
    __syncthreads(); // expect: CP304
    if (t % 32 == 0)
        out[blockIdx.x * 2 + t / 32] = v;
}

// Columns of a thread: strided, and nobody else's.
// run: block=64 grid=4 in=float[256*4] out=float[256]
// cudaperf: block=64
// decides: CP304
__global__ void own_columns(const float *in, float *out)
{
    __shared__ float column[4 * 64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    for (int k = 0; k < 4; ++k)
        column[k * 64 + t] = in[k * 256 + i];
    __syncthreads(); // expect: CP304
    float product = 1.f;
    for (int k = 0; k < 4; ++k)
        product *= column[k * 64 + t];
    out[i] = product;
}

// run: block=32x8 grid=4x4 in=float[w*h] out=float[w*h] w=128 h=32
// cudaperf: block=32x8
// decides: CP304
__global__ void own_cell_of_tile(const float *in, float *out, int w, int h)
{
    __shared__ float tile[8][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = y < h ? in[y * w + x] : 0.f;
    __syncthreads(); // expect: CP304
    if (y < h)
        out[y * w + x] = 255.f * tile[threadIdx.y][threadIdx.x];
}

// By the group's own call.
// run: block=128 grid=4 in=int[n] out=int[n] n=512
// cudaperf: block=128
// decides: CP304
__global__ void group_sync_for_own(const int *in, int *out, int n)
{
    __shared__ int s[128];
    cg::thread_block block = cg::this_thread_block();
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    block.sync(); // expect: CP304
    out[i] = s[t] >> 1;
}

// One thread writes and the same one reads.
// run: block=128 grid=4 in=float[4] out=float[4]
// cudaperf: block=128
// decides: CP304
__global__ void first_thread_alone(const float *in, float *out)
{
    __shared__ float kept;
    if (threadIdx.x == 0)
        kept = in[blockIdx.x];
    __syncthreads(); // expect: CP304
    if (threadIdx.x == 0)
        out[blockIdx.x] = kept * kept;
}
