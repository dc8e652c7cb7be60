// Barriers under conditions and in loops.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// run: block=128 grid=8 in=float[n] out=float[n] n=1000 smooth=1
__global__ void uniform_condition(const float *in, float *out, int n, int smooth)
{
    __shared__ float near[1024 + 2];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    near[t + 1] = i < n ? in[i] : 0.f;
    if (smooth) {
        if (t == 0)
            near[0] = i > 0 ? in[i - 1] : 0.f;
        if (t == blockDim.x - 1)
            near[t + 2] = i + 1 < n ? in[i + 1] : 0.f;
        __syncthreads();
        if (i < n)
            out[i] = (near[t] + near[t + 1] + near[t + 2]) / 3.f;
    } else if (i < n) {
        out[i] = near[t + 1];
    }
}

// run: block=128 grid=8 in=float[n] out=float[n] n=1000
__global__ void thread_condition(const float *in, float *out, int n)
{
    __shared__ float near[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i < n) {
        near[t] = in[i]; // also: CP302
        __syncthreads(); // expect: CP301
        out[i] = near[t] + near[127 - t]; // also: CP302
    }
}

void threads_of_128(const float *in, float *out, int n)
{
    thread_condition<<<(n + 127) / 128, 128>>>(in, out, n);
}

// run: block=64 grid=4 in=float[n] out=float[n] n=256
// cudaperf: block=64
__global__ void barrier_for_odd_threads(const float *in, float *out, int n)
{
    __shared__ float swap[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    swap[t] = in[i]; // also: CP302
    if (t & 1)
        __syncthreads(); // expect: CP301
    else
        swap[t] *= 2.0f; // also: CP302
    float other = swap[t ^ 1]; // also: CP302; CP303
    __syncthreads(); // also: CP301
    out[i] = other;
}

// Every thread leaves the loop after its own number of rounds.
// run: block=128 grid=4 rounds=int[n]:below(8) out=int[n] n=512
// cudaperf: block=128
__global__ void data_trip_count(const int *rounds, int *out, int n)
{
    __shared__ int turn[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    turn[t] = i < n ? rounds[i] : 0;
    int mine = turn[t];
    for (int r = 0; r < mine; ++r) {
        turn[t] += 1; // also: CP302
        __syncthreads(); // expect: CP301
    }
    __syncthreads(); // also: CP301
    if (i < n)
        out[i] = turn[127 - t]; // also: CP302
}

// run: block=128 grid=4 out=int[n] n=512
// cudaperf: block=128
__global__ void thread_trip_count(int *out, int n)
{
    __shared__ int sum[128];
    int t = threadIdx.x;
    sum[t] = 0;
    for (int k = t; k < 300; k += 128) {
        sum[t] += k; // also: CP302
        __syncthreads(); // expect: CP301
    }
    __syncthreads(); // also: CP301
    int i = blockIdx.x * 128 + t;
    if (i < n)
        out[i] = sum[(t + 1) % 128]; // also: CP302
}

// The trip count is the block's: all threads go round together.
// run: block=128 grid=4 in=float[rows*128] out=float[rows*128] rows=40
// cudaperf: block=128
// decides: CP304
__global__ void block_trip_count(const float *in, float *out, int rows)
{
    __shared__ float row[128];
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        row[threadIdx.x] = in[r * 128 + threadIdx.x];
        __syncthreads();
        out[r * 128 + threadIdx.x] = row[127 - threadIdx.x];
        __syncthreads();
    }
}

// run: block=256 grid=4 in=float[n] out=float[n] n=1000
// decides: CP201 CP202 CP203 CP304
__global__ void group_barrier(const float *in, float *out, int n)
{
    __shared__ float pair[256];
    auto block = cg::this_thread_block();
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    pair[t] = i < n ? in[i] : 0.f;
    block.sync();
    if (i < n)
        out[i] = 0.5f * (pair[t] + pair[255 - t]);
}

// run: block=256 grid=4 in=float[n] out=float[n] n=1000
__global__ void group_barrier_in_branch(const float *in, float *out, int n)
{
    __shared__ float pair[256];
    cg::thread_block block = cg::this_thread_block();
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    pair[t] = i < n ? in[i] : 0.f; // also: CP302
    if (t < 100)
        block.sync(); // expect: CP301
    if (i < n)
        out[i] = 0.5f * (pair[t] + pair[255 - t]); // also: CP302
}

void groups(const float *in, float *out, int n)
{
    group_barrier<<<(n + 255) / 256, 256>>>(in, out, n);
    group_barrier_in_branch<<<(n + 255) / 256, 256>>>(in, out, n);
}

// The result of the barrier is the same for all: the loop ends for all at once.
// run: block=128 grid=2 label=int[n]:below(64) n=256 limit=20
// decides: CP304
__global__ void relax_until_stable(int *label, int n, int limit)
{
    __shared__ int now[1024];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    now[t] = i < n ? label[i] : 0;
    __syncthreads();
    for (int round = 0; round < limit; ++round) {
        int left = t > 0 ? now[t - 1] : now[t];
        __syncthreads();
        bool change = left < now[t];
        if (change)
            now[t] = left;
        if (!__syncthreads_or(change))
            break;
    }
    if (i < n)
        label[i] = now[t];
}

// run: block=128 grid=8 flags=int[n]:below(2) count=int[8] n=1000
__global__ void count_block(const int *flags, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int set = i < n ? flags[i] : 0;
    int total = __syncthreads_count(set);
    if (threadIdx.x == 0)
        count[blockIdx.x] = total;
}

// Whole blocks leave: nobody of theirs waits.
// run: block=128 grid=8 in=float[n*128] out=float[n*128] n=5
// decides: CP201 CP202 CP203 CP304
__global__ void surplus_blocks_leave(const float *in, float *out, int n)
{
    __shared__ float row[128];
    if (blockIdx.x >= n)
        return;
    int t = threadIdx.x;
    row[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    out[blockIdx.x * 128 + t] = row[127 - t];
}

void surplus(const float *in, float *out, int n)
{
    surplus_blocks_leave<<<64, 128>>>(in, out, n);
}

// run: block=32x8 grid=4x4 in=float[w*h] out=float[w*h] w=100 h=30
// cudaperf: block=32x8
__global__ void blur_returns_early(const float *in, float *out, int w, int h)
{
    __shared__ float line[8][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h)
        return; // expect: CP306
    line[threadIdx.y][threadIdx.x + 1] = in[y * w + x];
    if (threadIdx.x == 0)
        line[threadIdx.y][0] = x > 0 ? in[y * w + x - 1] : 0.f;
    if (threadIdx.x == 31)
        line[threadIdx.y][33] = x + 1 < w ? in[y * w + x + 1] : 0.f;
    __syncthreads(); // also: CP306
    out[y * w + x] = (line[threadIdx.y][threadIdx.x] + line[threadIdx.y][threadIdx.x + 1] + line[threadIdx.y][threadIdx.x + 2]) / 3.f;
}

// run: block=32x8 grid=4x4 in=float[w*h] out=float[w*h] w=100 h=30
// cudaperf: block=32x8
// decides: CP304
__global__ void blur_guards_work(const float *in, float *out, int w, int h)
{
    __shared__ float line[8][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    bool inside = x < w && y < h;
    if (inside)
        line[threadIdx.y][threadIdx.x + 1] = in[y * w + x];
    if (inside && threadIdx.x == 0)
        line[threadIdx.y][0] = x > 0 ? in[y * w + x - 1] : 0.f;
    if (inside && threadIdx.x == 31)
        line[threadIdx.y][33] = x + 1 < w ? in[y * w + x + 1] : 0.f;
    __syncthreads();
    if (!inside)
        return;
    out[y * w + x] = (line[threadIdx.y][threadIdx.x] + line[threadIdx.y][threadIdx.x + 1] + line[threadIdx.y][threadIdx.x + 2]) / 3.f;
}
