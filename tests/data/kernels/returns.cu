// Threads that leave early, and what the rest of the block still does.
#include <cuda_runtime.h>

#define N_TAPS 9

__constant__ float taps[N_TAPS];

// run: block=128 grid=8 x=float[n] y=float[n] n=1000
__global__ void fir_leaves_early(const float *x, float *y, int n)
{
    __shared__ float window[1024 + N_TAPS - 1];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (i >= n)
        return; // expect: CP306
    window[t + N_TAPS - 1] = x[i];
    if (t < N_TAPS - 1)
        window[t] = i >= N_TAPS - 1 ? x[i - (N_TAPS - 1)] : 0.f;
    __syncthreads(); // also: CP306
    float sum = 0.f;
    for (int k = 0; k < N_TAPS; ++k)
        sum += taps[k] * window[t + k];
    y[i] = sum;
}

// run: block=128 grid=8 x=float[n] y=float[n] n=1000
__global__ void fir_stays(const float *x, float *y, int n)
{
    __shared__ float window[1024 + N_TAPS - 1];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    window[t + N_TAPS - 1] = i < n ? x[i] : 0.f;
    if (t < N_TAPS - 1)
        window[t] = i >= N_TAPS - 1 && i - (N_TAPS - 1) < n ? x[i - (N_TAPS - 1)] : 0.f;
    __syncthreads();
    if (i >= n)
        return;
    float sum = 0.f;
    for (int k = 0; k < N_TAPS; ++k)
        sum += taps[k] * window[t + k];
    y[i] = sum;
}

void fir(const float *x, float *y, int n)
{
    fir_leaves_early<<<(n + 127) / 128, 128>>>(x, y, n);
    fir_stays<<<(n + 127) / 128, 128>>>(x, y, n);
}

// run: block=256 grid=8 mask=uint8_t[n] value=float[n] out=float[n] n=2000
// cudaperf: block=256
__global__ void masked_threads_leave(const unsigned char *mask, const float *value, float *out, int n)
{
    __shared__ float best[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    best[threadIdx.x] = i < n ? value[i] : 0.f;
    if (i >= n || !(mask[i] & 1))
        return; // expect: CP306
    __syncthreads(); // also: CP306
    out[i] = fmaxf(best[threadIdx.x], best[255 - threadIdx.x]);
}

// run: block=256 grid=8 mask=uint8_t[n] value=float[n] out=float[n] n=2000
// cudaperf: block=256
// decides: CP304
__global__ void masked_threads_leave_after(const unsigned char *mask, const float *value, float *out, int n)
{
    __shared__ float best[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    best[threadIdx.x] = i < n ? value[i] : 0.f;
    __syncthreads();
    if (i >= n || !(mask[i] & 1))
        return;
    out[i] = fmaxf(best[threadIdx.x], best[255 - threadIdx.x]);
}

// A parameter decides: all leave or none.
// run: block=128 grid=8 in=float[n] out=float[n] n=1000 enabled=1
__global__ void disabled_kernel_leaves(const float *in, float *out, int n, int enabled)
{
    __shared__ float s[1024];
    if (!enabled)
        return;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.f;
    __syncthreads();
    if (i < n)
        out[i] = s[blockDim.x - 1 - t];
}

// Only the first warp goes on, without the block's barrier.
// run: block=256 grid=8 in=float[n] out=float[8] n=2000
// cudaperf: block=256
__global__ void other_warps_leave(const float *in, float *out, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    float sum = 0.f;
    for (int i = blockIdx.x * 256 + t; i < n; i += 256 * gridDim.x)
        sum += in[i];
    part[t] = sum;
    __syncthreads();
    if (t >= 32)
        return;
    sum = 0.f;
    for (int k = t; k < 256; k += 32)
        sum += part[k];
    for (int o = 16; o > 0; o >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, o);
    if (t == 0)
        out[blockIdx.x] = sum;
}

// The first warp is waited for by threads that never come.
// run: block=256 grid=8 in=float[n] out=float[8] n=2000
// cudaperf: block=256
__global__ void other_warps_leave_too_soon(const float *in, float *out, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = i < n ? in[i] : 0.f;
    __syncthreads();
    if (t >= 64)
        return; // expect: CP306
    part[t] += part[t + 64] + part[t + 128] + part[t + 192];
    __syncthreads(); // also: CP306
    if (t == 0) {
        float sum = 0.f;
        for (int k = 0; k < 64; ++k)
            sum += part[k];
        out[blockIdx.x] = sum;
    }
}

// Leaving inside the loop that has the barrier.
// run: block=64 grid=4 level=int[n]:below(6) out=int[n] n=250
// cudaperf: block=64
__global__ void leaves_in_loop(const int *level, int *out, int n)
{
    __shared__ int wave[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    int mine = i < n ? level[i] : 0;
    for (int step = 0; step < 6; ++step) {
        if (step > mine)
            return; // expect: CP306
        wave[t] = step + mine;
        __syncthreads(); // also: CP306; CP301
        if (i < n)
            out[i] = wave[t ^ 1];
        __syncthreads(); // also: CP306; CP301
    }
}

// run: block=64 grid=4 level=int[n]:below(6) out=int[n] n=250
// cudaperf: block=64
__global__ void stays_in_loop(const int *level, int *out, int n)
{
    __shared__ int wave[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    int mine = i < n ? level[i] : 0;
    for (int step = 0; step < 6; ++step) {
        wave[t] = step + mine;
        __syncthreads();
        if (i < n && step <= mine)
            out[i] = wave[t ^ 1];
        __syncthreads();
    }
}

// Two checks, one after another, and a barrier behind them.
// run: block=16x16 grid=4x4 a=float[w*h] out=float[w*h] w=60 h=55
// cudaperf: block=16x16
__global__ void erode_two_checks(const float *a, float *out, int w, int h)
{
    __shared__ float s[16][16];
    int x = blockIdx.x * 16 + threadIdx.x;
    int y = blockIdx.y * 16 + threadIdx.y;
    if (x >= w) return; // expect: CP306
    if (y >= h) return; // expect: CP306
    s[threadIdx.y][threadIdx.x] = a[y * w + x];
    __syncthreads(); // also: CP306
    float v = s[threadIdx.y][threadIdx.x];
    if (threadIdx.x > 0)
        v = fminf(v, s[threadIdx.y][threadIdx.x - 1]);
    if (threadIdx.y > 0)
        v = fminf(v, s[threadIdx.y - 1][threadIdx.x]);
    out[y * w + x] = v;
}

// run: block=256 grid=8 a=float[n] b=float[n] n=2000
__global__ void reciprocal(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = a[i];
    if (v == 0.f) {
        b[i] = 0.f;
        return;
    }
    b[i] = 1.f / v;
}

// run: block=128 grid=8 dist=int[n]:fill(1000) frontier=int[n]:below(2) n=1000 level=3
__global__ void mark_frontier(int *dist, const int *frontier, int n, int level)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    if (!frontier[v]) return;
    if (dist[v] <= level) return;
    dist[v] = level;
}

// A launch that fills its blocks: the check is of the block alone.
// run: block=128 grid=8 in=float[n] out=float[n] n=1000
__global__ void whole_block_outside(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int first = blockIdx.x * blockDim.x;
    if (first + blockDim.x > n)
        return;
    s[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    out[first + threadIdx.x] = s[127 - threadIdx.x];
}

void whole_blocks(const float *in, float *out, int n)
{
    whole_block_outside<<<(n + 127) / 128, 128>>>(in, out, n);
}
