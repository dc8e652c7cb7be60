// Ping-pong buffers, tiles that are reused, stages of a block.
#include <cuda_runtime.h>

// run: block=128 grid=4 data=float[n] n=512 rounds=6
// cudaperf: block=128
// decides: CP304
__global__ void ping_pong(float *data, int n, int rounds)
{
    __shared__ float a[128], b[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float *src = a, *dst = b;
    src[t] = data[i];
    __syncthreads();
    for (int r = 0; r < rounds; ++r) {
        dst[t] = 0.5f * (src[t] + src[(t + 1) & 127]);
        __syncthreads();
        float *swap = src;
        src = dst;
        dst = swap;
    }
    data[i] = src[t];
}

// Unrolled by two: A to B, B to A.
// run: block=128 grid=4 data=float[n] n=512 rounds=6
// cudaperf: block=128
// decides: CP304
__global__ void there_and_back(float *data, int n, int rounds)
{
    __shared__ float a[128];
    __shared__ float b[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    a[t] = data[i];
    __syncthreads();
    for (int r = 0; r < rounds; r += 2) {
        b[t] = a[t] + a[127 - t];
        __syncthreads();
        a[t] = b[t] - 0.25f * b[127 - t];
        __syncthreads();
    }
    data[i] = a[t];
}

// The way back is not waited for.
// run: block=128 grid=4 data=float[n] n=512 rounds=6
// cudaperf: block=128
__global__ void there_and_back_racing(float *data, int n, int rounds)
{
    __shared__ float a[128];
    __shared__ float b[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    a[t] = data[i];
    __syncthreads();
    for (int r = 0; r < rounds; r += 2) {
        b[t] = a[t] + a[127 - t]; // also: CP302
        a[t] = b[t] - 0.25f * b[127 - t]; // expect: CP302@b // also: CP302
        __syncthreads();
    }
    data[i] = a[t];
}

// The tile of the next round is loaded over the one in use.
// run: block=256 grid=4 stream=float[n] out=float[1024] n=8192
__global__ void running_tile_racing(const float *stream, float *out, int n)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    float acc = 0.f;
    for (int base = 0; base < n; base += 256) {
        tile[t] = stream[base + t]; // also: CP302
        __syncthreads();
        for (int k = 0; k < 256; k += 16)
            acc += tile[(k + t) % 256]; // expect: CP302@tile
    }
    out[blockIdx.x * 256 + t] = acc;
}

// run: block=256 grid=4 stream=float[n] out=float[1024] n=8192
// decides: CP201 CP202 CP203 CP304
__global__ void running_tile(const float *stream, float *out, int n)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    float acc = 0.f;
    for (int base = 0; base < n; base += 256) {
        tile[t] = stream[base + t];
        __syncthreads();
        for (int k = 0; k < 256; k += 16)
            acc += tile[(k + t) % 256];
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = acc;
}

void tiles(const float *stream, float *out, int n)
{
    running_tile_racing<<<4, 256>>>(stream, out, n);
    running_tile<<<4, 256>>>(stream, out, n);
}

// One warp fills, all warps use.
// run: block=128 grid=4 table=float[32] in=float[n] out=float[n] n=512
// decides: CP304
__global__ void one_warp_fills(const float *table, const float *in, float *out, int n)
{
    __shared__ float lut[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 32)
        lut[t] = table[t];
    __syncthreads();
    if (i < n)
        out[i] = in[i] * lut[t % 32];
}

// run: block=128 grid=4 table=float[32] in=float[n] out=float[n] n=512
__global__ void one_warp_fills_unwaited(const float *table, const float *in, float *out, int n)
{
    __shared__ float lut[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 32)
        lut[t] = table[t]; // also: CP302
    if (i < n)
        out[i] = in[i] * lut[t % 32]; // expect: CP302@lut
}

// __syncwarp() is not enough for what another warp has written.
// run: block=128 grid=4 in=float[n] out=float[n] n=512
__global__ void syncwarp_across_warps(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.f; // also: CP302
    __syncwarp();
    if (i < n)
        out[i] = s[127 - t]; // expect: CP302@s
}

// A fence orders one thread's writes, not the threads.
// run: block=128 grid=4 in=float[n] out=float[n] n=512
__global__ void fence_is_no_barrier(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.f; // also: CP302
    __threadfence_block();
    if (i < n)
        out[i] = s[127 - t]; // expect: CP302@s
}

void weak_barriers(const float *in, float *out, int n)
{
    syncwarp_across_warps<<<(n + 127) / 128, 128>>>(in, out, n);
    fence_is_no_barrier<<<(n + 127) / 128, 128>>>(in, out, n);
}

// A counter that thread 0 resets while others still read it.
// run: block=128 grid=4 in=int[n]:below(10) out=int[n] n=512
// cudaperf: block=128
__global__ void counter_reset_too_soon(const int *in, int *out, int n)
{
    __shared__ int above;
    int t = threadIdx.x, i = blockIdx.x * 128 + t, sum = 0;
    if (t == 0)
        above = 0;
    __syncthreads();
    for (int level = 0; level < 3; ++level) {
        if (in[i] > level)
            atomicAdd(&above, 1);
        __syncthreads();
        sum += above; // expect: CP302@above
        if (t == 0)
            above = 0; // also: CP302
        __syncthreads();
    }
    out[i] = sum;
}

// run: block=128 grid=4 in=int[n]:below(10) out=int[n] n=512
// cudaperf: block=128
// decides: CP304
__global__ void counter_reset_in_time(const int *in, int *out, int n)
{
    __shared__ int above;
    int t = threadIdx.x, i = blockIdx.x * 128 + t, sum = 0;
    if (t == 0)
        above = 0;
    __syncthreads();
    for (int level = 0; level < 3; ++level) {
        if (in[i] > level)
            atomicAdd(&above, 1);
        __syncthreads();
        sum += above;
        __syncthreads();
        if (t == 0)
            above = 0;
        __syncthreads();
    }
    out[i] = sum;
}
