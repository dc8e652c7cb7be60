// Blocks that stay: work queues, specialized warps, double buffers, the last block's turn.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// A ticket for the block; everybody has read it before the next one is drawn.
// run: block=128 grid=4 in=float[items*128] out=float[items*128] next=int[1]:zero items=20
// cudaperf: block=128
__global__ void drain_queue(const float *in, float *out, int *next, int items)
{
    __shared__ int ticket;
    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(next, 1);
        __syncthreads();
        const int mine = ticket;
        __syncthreads();
        if (mine >= items)
            break;
        out[mine * 128 + threadIdx.x] = sqrtf(in[mine * 128 + threadIdx.x]);
    }
}

// Thread 0 draws again while others still look at the old ticket.
// run: block=128 grid=4 in=float[items*128] out=float[items*128] next=int[1]:zero items=20
// cudaperf: block=128
__global__ void drain_queue_hastily(const float *in, float *out, int *next, int items)
{
    __shared__ int ticket;
    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(next, 1); // also: CP302
        __syncthreads(); // also: CP306; CP301
        if (ticket >= items) // expect: CP302@ticket
            return; // also: CP306
        const int at = ticket * 128 + threadIdx.x; // also: CP302
        out[at] = sqrtf(in[at]);
    }
}

// One warp loads ahead, three compute; all come to each barrier.
// run: block=128 grid=2 in=float[stages*64] out=float[192] stages=10
// cudaperf: block=128
__global__ void loader_and_workers(const float *in, float *out, int stages)
{
    __shared__ float buffer[2][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const float *mine = in + blockIdx.x * stages * 32;
    float sum = 0.f;
    if (warp == 0)
        buffer[0][lane] = mine[lane];
    __syncthreads();
    for (int k = 0; k < stages; ++k) {
        if (warp == 0) {
            if (k + 1 < stages)
                buffer[(k + 1) & 1][lane] = mine[(k + 1) * 32 + lane];
        } else {
            sum += warp * buffer[k & 1][lane];
        }
        __syncthreads();
    }
    if (warp > 0)
        out[blockIdx.x * 96 + threadIdx.x - 32] = sum;
}

// One buffer only: the loader writes where the workers read.
// run: block=128 grid=2 in=float[stages*64] out=float[192] stages=10
// cudaperf: block=128
__global__ void loader_overtakes_workers(const float *in, float *out, int stages)
{
    __shared__ float buffer[32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const float *mine = in + blockIdx.x * stages * 32;
    float sum = 0.f;
    if (warp == 0)
        buffer[lane] = mine[lane];
    __syncthreads();
    for (int k = 0; k < stages; ++k) {
        if (warp == 0) {
            if (k + 1 < stages)
                buffer[lane] = mine[(k + 1) * 32 + lane]; // also: CP302
        } else {
            sum += warp * buffer[lane]; // expect: CP302@buffer
        }
        __syncthreads();
    }
    if (warp > 0)
        out[blockIdx.x * 96 + threadIdx.x - 32] = sum;
}

// The workers' loop has the barrier, the loader's has none.
// run: block=128 grid=2 in=float[stages*64] out=float[192] stages=10
// cudaperf: block=128
__global__ void workers_wait_for_nobody(const float *in, float *out, int stages)
{
    __shared__ float buffer[32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0.f;
    if (warp == 0) {
        for (int k = 0; k < stages; ++k)
            buffer[lane] = in[(blockIdx.x * stages + k) * 32 + lane]; // also: CP302
    } else {
        for (int k = 0; k < stages; ++k) {
            __syncthreads(); // expect: CP301
            sum += warp * buffer[lane]; // also: CP302
        }
        out[blockIdx.x * 96 + threadIdx.x - 32] = sum;
    }
}

// The last block adds up what the others have left.
// run: block=256 grid=8 in=float[n] partial=float[8] done=unsigned[1]:zero total=float[1] n=5000
// cudaperf: block=256
__global__ void sum_by_last_block(const float *in, volatile float *partial, unsigned *done, float *total, int n)
{
    __shared__ float warp_sum[8];
    __shared__ bool last;
    float v = 0.f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x)
        v += in[i];
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0)
        warp_sum[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w)
            v += warp_sum[w];
        partial[blockIdx.x] = v;
        __threadfence();
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0.f;
        for (unsigned b = 0; b < gridDim.x; ++b)
            sum += partial[b];
        *total = sum;
    }
}

// Whether the block is the last is asked before thread 0 knows.
// run: block=256 grid=8 in=float[2048] partial=float[2048] done=unsigned[1]:zero total=float[256]:zero
// cudaperf: block=256
__global__ void add_columns_by_last_block(const float *in, volatile float *partial, unsigned *done, float *total)
{
    __shared__ bool last;
    partial[blockIdx.x * 256 + threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x] * 2.f;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(done, 1u) == gridDim.x - 1; // also: CP302
    if (!last) // expect: CP302@last
        return;
    float sum = 0.f;
    for (unsigned b = 0; b < gridDim.x; ++b)
        sum += partial[b * 256 + threadIdx.x];
    total[threadIdx.x] = sum; // also: CP305
}

// All blocks store their total in the same place.
// run: block=256 grid=8 in=float[n] total=float[1]:zero n=5000
__global__ void sum_of_blocks_lost(const float *in, float *total, int n)
{
    __shared__ float sum;
    if (threadIdx.x == 0)
        sum = 0.f;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        *total += sum; // expect: CP305@total
}

void lost(const float *in, float *total, int n)
{
    sum_of_blocks_lost<<<8, 256>>>(in, total, n);
}

// Front and back in dynamic memory, exchanged by their pointers.
// run: block=64 grid=4 shared=512 in=float[n] out=float[n] n=256 rounds=7
__global__ void smooth_by_turns(const float *in, float *out, int n, int rounds)
{
    extern __shared__ float memory[];
    float *front = memory, *back = memory + blockDim.x;
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, end = blockDim.x - 1;
    front[t] = i < n ? in[i] : 0.f;
    __syncthreads();
    for (int r = 0; r < rounds; ++r) {
        back[t] = 0.5f * front[t] + 0.25f * (front[max(t - 1, 0)] + front[min(t + 1, end)]);
        __syncthreads();
        float *swap = front;
        front = back;
        back = swap;
    }
    if (i < n)
        out[i] = front[t];
}

// run: block=128 grid=2 in=float[n] out=float[n] n=1000
__global__ void whole_rounds(const float *in, float *out, int n)
{
    __shared__ float first;
    cg::thread_block block = cg::this_thread_block();
    const int rounds = (n + blockDim.x * gridDim.x - 1) / (blockDim.x * gridDim.x);
    for (int r = 0; r < rounds; ++r) {
        const int i = (r * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        const float v = i < n ? in[i] : 0.f;
        if (block.thread_rank() == 0)
            first = v;
        block.sync();
        if (i < n)
            out[i] = v - first;
        block.sync();
    }
}

// Rounds counted for each thread: in the last one some are missing.
// run: block=128 grid=2 in=float[n] out=float[n] n=1000
__global__ void ragged_rounds(const float *in, float *out, int n)
{
    __shared__ float first;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n) {
        const float v = in[i];
        if (threadIdx.x == 0)
            first = v; // also: CP302
        __syncthreads(); // expect: CP301
        out[i] = v - first; // also: CP302
        __syncthreads(); // also: CP301
        i += blockDim.x * gridDim.x;
    }
}

// Warps without work go, the others meet at a barrier.
// run: block=256 grid=4 in=float[n] out=float[n] n=900
// cudaperf: block=256
__global__ void empty_warps_go(const float *in, float *out, int n)
{
    __shared__ float sums[8];
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const int start = (blockIdx.x * 8 + warp) * 32;
    if (lane == 0)
        sums[warp] = 0.f;
    if (start >= n)
        return; // expect: CP306
    const float v = start + lane < n ? in[start + lane] : 0.f;
    float sum = v;
    for (int d = 16; d > 0; d >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0)
        sums[warp] = sum;
    __syncthreads(); // also: CP306
    if (start + lane < n)
        out[start + lane] = v / (sums[0] + sums[warp]);
}

// A lane's mail to the next lane, and straight on.
// run: block=128 grid=4 in=int[n]:below(50) out=int[n] n=512 rounds=4
// cudaperf: block=128
__global__ void ring_of_lanes(const int *in, int *out, int n, int rounds)
{
    __shared__ int box[4][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, i = blockIdx.x * 128 + threadIdx.x;
    int token = i < n ? in[i] : 0;
    for (int r = 0; r < rounds; ++r) {
        box[warp][(lane + 1) % 32] = token; // also: CP303; CP302
        token = box[warp][lane] + 1; // expect: CP303/CP302@box
    }
    if (i < n)
        out[i] = token;
}

// run: block=128 grid=4 in=int[n]:below(50) out=int[n] n=512 rounds=4
// cudaperf: block=128
__global__ void ring_of_lanes_in_step(const int *in, int *out, int n, int rounds)
{
    __shared__ int box[4][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, i = blockIdx.x * 128 + threadIdx.x;
    int token = i < n ? in[i] : 0;
    for (int r = 0; r < rounds; ++r) {
        box[warp][(lane + 1) % 32] = token;
        __syncwarp();
        token = box[warp][lane] + 1;
        __syncwarp();
    }
    if (i < n)
        out[i] = token;
}

// The leader of each warp announces the warp's find, each in the block's one place.
// run: block=128 grid=8 key=int[n] found=int[8]:zero n=1000
// cudaperf: block=128
__global__ void announce_by_warp(const int *key, int *found, int n)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    const unsigned hits = __ballot_sync(0xffffffffu, i < n && key[i] > 200);
    if (threadIdx.x % 32 == 0 && hits != 0)
        found[blockIdx.x] = i + __ffs(hits); // expect: CP305@found
}
