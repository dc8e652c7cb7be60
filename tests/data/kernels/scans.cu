// Prefix sums.
#include <cuda_runtime.h>

#define SCAN_BLOCK 256
#define CONFLICT_FREE(i) ((i) + ((i) >> 5))

// run: block=256 grid=4 in=int[n] out=int[n] n=1000
// decides: CP304
__global__ void hillis_steele_two_buffers(const int *in, int *out, int n)
{
    __shared__ int buffer[2][SCAN_BLOCK];
    int t = threadIdx.x, i = blockIdx.x * SCAN_BLOCK + t;
    int from = 0, to = 1;
    buffer[from][t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < SCAN_BLOCK; d <<= 1) {
        buffer[to][t] = t >= d ? buffer[from][t] + buffer[from][t - d] : buffer[from][t];
        __syncthreads();
        from ^= 1;
        to ^= 1;
    }
    if (i < n)
        out[i] = buffer[from][t];
}

// One buffer: a thread's element changes while its neighbour reads it.
// run: block=256 grid=4 in=int[n] out=int[n] n=1000
__global__ void hillis_steele_in_place(const int *in, int *out, int n)
{
    __shared__ int s[SCAN_BLOCK];
    int t = threadIdx.x, i = blockIdx.x * SCAN_BLOCK + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < SCAN_BLOCK; d <<= 1) {
        if (t >= d)
            s[t] += s[t - d]; // expect: CP302@s
        __syncthreads();
    }
    if (i < n)
        out[i] = s[t];
}

// run: block=256 grid=4 in=int[n] out=int[n] n=1000
// decides: CP304
__global__ void hillis_steele_through_register(const int *in, int *out, int n)
{
    __shared__ int s[SCAN_BLOCK];
    int t = threadIdx.x, i = blockIdx.x * SCAN_BLOCK + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < SCAN_BLOCK; d <<= 1) {
        int add = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += add;
        __syncthreads();
    }
    if (i < n)
        out[i] = s[t];
}

// The barrier between the read and the write is gone.
// run: block=256 grid=4 in=int[n] out=int[n] n=1000
__global__ void hillis_steele_one_barrier(const int *in, int *out, int n)
{
    __shared__ int s[SCAN_BLOCK];
    int t = threadIdx.x, i = blockIdx.x * SCAN_BLOCK + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < SCAN_BLOCK; d <<= 1) {
        int add = t >= d ? s[t - d] : 0; // also: CP302
        s[t] += add; // expect: CP302@s
        __syncthreads();
    }
    if (i < n)
        out[i] = s[t];
}

// Two buffers, but the barrier of each step is gone.
// run: block=256 grid=4 in=int[n] out=int[n] n=1000
__global__ void hillis_steele_no_step_barrier(const int *in, int *out, int n)
{
    __shared__ int buffer[2][SCAN_BLOCK];
    int t = threadIdx.x, i = blockIdx.x * SCAN_BLOCK + t;
    int from = 0;
    buffer[0][t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < SCAN_BLOCK; d <<= 1) {
        buffer[1 - from][t] = t >= d ? buffer[from][t] + buffer[from][t - d] : buffer[from][t]; // expect: CP302@buffer
        from = 1 - from;
    }
    if (i < n)
        out[i] = buffer[from][t];
}

void scan_variants(const int *in, int *out, int n)
{
    int blocks = (n + SCAN_BLOCK - 1) / SCAN_BLOCK;
    hillis_steele_two_buffers<<<blocks, SCAN_BLOCK>>>(in, out, n);
    hillis_steele_in_place<<<blocks, SCAN_BLOCK>>>(in, out, n);
    hillis_steele_through_register<<<blocks, SCAN_BLOCK>>>(in, out, n);
    hillis_steele_one_barrier<<<blocks, SCAN_BLOCK>>>(in, out, n);
    hillis_steele_no_step_barrier<<<blocks, SCAN_BLOCK>>>(in, out, n);
}

// Up and down the tree; without padding its strides fall on few banks.
// run: block=128 grid=2 data=float[512]
// cudaperf: block=128
__global__ void tree_scan(float *data)
{
    __shared__ float temp[256];
    int t = threadIdx.x, base = blockIdx.x * 256, offset = 1;
    temp[t] = data[base + t];
    temp[t + 128] = data[base + t + 128];
    for (int d = 128; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            temp[b] += temp[a]; // expect: CP102@temp
        }
        offset <<= 1;
    }
    if (t == 0)
        temp[255] = 0.f;
    for (int d = 1; d < 256; d <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            float left = temp[a]; // expect: CP102@temp
            temp[a] = temp[b]; // expect: CP102@temp
            temp[b] += left; // expect: CP102@temp
        }
    }
    __syncthreads();
    data[base + t] = temp[t];
    data[base + t + 128] = temp[t + 128];
}

// run: block=128 grid=2 data=float[512]
// cudaperf: block=128
// decides: CP304
__global__ void tree_scan_padded(float *data)
{
    __shared__ float temp[CONFLICT_FREE(256) + 1];
    int t = threadIdx.x, base = blockIdx.x * 256, offset = 1;
    temp[CONFLICT_FREE(t)] = data[base + t];
    temp[CONFLICT_FREE(t + 128)] = data[base + t + 128];
    for (int d = 128; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            temp[CONFLICT_FREE(b)] += temp[CONFLICT_FREE(a)]; // also: CP102
        }
        offset <<= 1;
    }
    if (t == 0)
        temp[CONFLICT_FREE(255)] = 0.f;
    for (int d = 1; d < 256; d <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            float left = temp[CONFLICT_FREE(a)]; // also: CP102
            temp[CONFLICT_FREE(a)] = temp[CONFLICT_FREE(b)]; // also: CP102
            temp[CONFLICT_FREE(b)] += left; // also: CP102
        }
    }
    __syncthreads();
    data[base + t] = temp[CONFLICT_FREE(t)];
    data[base + t + 128] = temp[CONFLICT_FREE(t + 128)];
}

// No barrier at the head of the upward steps.
// run: block=128 grid=2 data=int[512]
// cudaperf: block=128
__global__ void tree_sum_no_barrier(int *data)
{
    __shared__ int temp[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    temp[t] = data[base + t];
    temp[t + 128] = data[base + t + 128];
    __syncthreads();
    for (int step = 1; step <= 128; step *= 2) {
        int at = 2 * step * (t + 1) - 1;
        if (at < 256)
            temp[at] += temp[at - step]; // expect: CP302@temp; CP102@temp // also: CP305
    }
    __syncthreads();
    data[base + t] = temp[t];
    data[base + t + 128] = temp[t + 128];
}

// Registers of a warp, then the totals of the warps.
// run: block=256 grid=4 in=int[n] out=int[n] n=1000
// decides: CP201 CP202 CP203 CP304
__global__ void scan_by_shuffles(const int *in, int *out, int n)
{
    __shared__ int totals[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    for (int d = 1; d < 32; d <<= 1) {
        int up = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d)
            v += up;
    }
    if (lane == 31)
        totals[warp] = v;
    __syncthreads();
    if (warp == 0) {
        int sum = lane < blockDim.x / 32 ? totals[lane] : 0;
        for (int d = 1; d < 32; d <<= 1) {
            int up = __shfl_up_sync(0xffffffffu, sum, d);
            if (lane >= d)
                sum += up;
        }
        totals[lane] = sum;
    }
    __syncthreads();
    if (warp > 0)
        v += totals[warp - 1];
    if (i < n)
        out[i] = v;
}

// The totals are read before the first warp has summed them.
// run: block=256 grid=4 in=int[n] out=int[n] n=1000
__global__ void scan_reads_totals_early(const int *in, int *out, int n)
{
    __shared__ int totals[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    for (int d = 1; d < 32; d <<= 1) {
        int up = __shfl_up_sync(0xffffffffu, v, d);
        v += lane >= d ? up : 0;
    }
    if (lane == 31)
        totals[warp] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; ++w)
            totals[w] += totals[w - 1]; // also: CP302
    }
    if (warp > 0)
        v += totals[warp - 1]; // expect: CP302@totals
    if (i < n)
        out[i] = v;
}

void scan_with_shuffles(const int *in, int *out, int n)
{
    scan_by_shuffles<<<(n + 255) / 256, 256>>>(in, out, n);
    scan_reads_totals_early<<<(n + 255) / 256, 256>>>(in, out, n);
}

// Sums of blocks, offset onto each block's elements.
// run: block=256 grid=4 data=int[n] offsets=int[4] n=1000
__global__ void add_block_offsets(int *data, const int *offsets, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && blockIdx.x > 0)
        data[i] += offsets[blockIdx.x - 1];
}
