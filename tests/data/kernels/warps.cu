// Code of one warp: shuffles, votes, masks, and shared memory without a block's barrier.
#include <cuda_runtime.h>

constexpr unsigned kAllLanes = 0xffffffffu;

// run: block=128 grid=8 in=float[n] out=float[n] n=1000
__global__ void half_warp_shuffle_full_mask(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    float v = i < n ? in[i] : 0.f;
    if (lane < 16)
        v += __shfl_down_sync(kAllLanes, v, 8); // expect: CP303
    if (i < n)
        out[i] = v;
}

// run: block=128 grid=8 in=float[n] out=float[n] n=1000
__global__ void half_warp_shuffle_half_mask(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    float v = i < n ? in[i] : 0.f;
    if (lane < 16)
        v += __shfl_xor_sync(0x0000ffffu, v, 8);
    if (i < n)
        out[i] = v;
}

// The tail splits a warp, and the mask says that it does not.
// run: block=128 grid=8 in=float[n] out=float[n] n=1010
__global__ void shuffle_inside_bounds_check(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = in[i];
        float left = __shfl_up_sync(0xffffffff, v, 1); // expect: CP303
        out[i] = threadIdx.x % 32 ? v - left : v;
    }
}

// run: block=128 grid=8 in=float[n] out=float[n] n=1010
__global__ void shuffle_with_ballot_mask(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = __ballot_sync(0xffffffff, i < n);
    if (i < n) {
        float v = in[i];
        float left = __shfl_up_sync(mask, v, 1);
        out[i] = threadIdx.x % 32 ? v - left : v;
    }
}

void differences(const float *in, float *out, int n)
{
    shuffle_inside_bounds_check<<<(n + 127) / 128, 128>>>(in, out, n);
    shuffle_with_ballot_mask<<<(n + 127) / 128, 128>>>(in, out, n);
}

// run: block=128 grid=8 in=int[n]:below(100) out=int[32] n=1000
__global__ void compact_by_vote(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    bool keep = i < n && in[i] > 50;
    unsigned votes = __ballot_sync(kAllLanes, keep);
    int before = __popc(votes & ((1u << lane) - 1));
    int kept = __shfl_sync(kAllLanes, before + keep, 31);
    if (lane == 0)
        out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = kept;
}

// Only some lanes vote.
// run: block=128 grid=8 in=int[n]:below(100) out=int[n]:zero n=1000
__global__ void vote_of_odd_lanes(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    if (threadIdx.x & 1) {
        unsigned big = __ballot_sync(0xffffffffu, v > 50); // expect: CP303
        if (i < n)
            out[i] = __popc(big); // also: CP101
    }
}

// run: block=128 grid=8 in=int[n]:below(100) out=int[n]:zero n=1000
__global__ void vote_odd_lanes_masked(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    if (threadIdx.x & 1) {
        unsigned big = __ballot_sync(0xaaaaaaaau, v > 50);
        if (i < n)
            out[i] = __popc(big); // also: CP101
    }
}

// Whole warps take the branch.
// run: block=256 grid=4 in=float[n] out=float[8] n=1000
// cudaperf: block=256
__global__ void first_warps_reduce(const float *in, float *out, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x < 64) {
        float v = i < n ? in[i] : 0.f;
        for (int d = 16; d >= 1; d /= 2)
            v += __shfl_xor_sync(kAllLanes, v, d);
        if (threadIdx.x % 32 == 0)
            out[2 * blockIdx.x + threadIdx.x / 32] = v;
    }
}

// Eight warps, so eight sums: the other lanes of the warp are not there.
// run: block=256 grid=4 in=float[n] out=float[4] n=1000
// cudaperf: block=256
__global__ void second_level_full_mask(const float *in, float *out, int n)
{
    __shared__ float sums[8];
    int i = blockIdx.x * 256 + threadIdx.x;
    float v = i < n ? in[i] : 0.f;
    for (int d = 16; d >= 1; d /= 2)
        v += __shfl_down_sync(kAllLanes, v, d);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 8) {
        v = sums[threadIdx.x];
        for (int d = 4; d >= 1; d /= 2)
            v += __shfl_down_sync(0xffffffff, v, d); // expect: CP303
        if (threadIdx.x == 0)
            out[blockIdx.x] = v;
    }
}

// run: block=256 grid=4 in=float[n] out=float[4] n=1000
// cudaperf: block=256
__global__ void second_level_eight_lanes(const float *in, float *out, int n)
{
    __shared__ float sums[8];
    int i = blockIdx.x * 256 + threadIdx.x;
    float v = i < n ? in[i] : 0.f;
    for (int d = 16; d >= 1; d /= 2)
        v += __shfl_down_sync(kAllLanes, v, d);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 8) {
        v = sums[threadIdx.x];
        for (int d = 4; d >= 1; d /= 2)
            v += __shfl_down_sync(0x000000ff, v, d, 8);
        if (threadIdx.x == 0)
            out[blockIdx.x] = v;
    }
}

// A warp transposes through shared memory of its own.
// run: block=32 grid=8 in=float[n] out=float[n] n=256
__global__ void exchange_without_syncwarp(const float *in, float *out, int n)
{
    __shared__ float mail[32];
    int lane = threadIdx.x, i = blockIdx.x * 32 + lane;
    if (i < n)
        mail[lane] = in[i]; // also: CP303; CP302
    if (i < n)
        out[i] = mail[31 - lane]; // expect: CP303/CP302@mail
}

// run: block=32 grid=8 in=float[n] out=float[n] n=256
__global__ void exchange_with_syncwarp(const float *in, float *out, int n)
{
    __shared__ float mail[32];
    int lane = threadIdx.x, i = blockIdx.x * 32 + lane;
    mail[lane] = i < n ? in[i] : 0.f;
    __syncwarp();
    if (i < n)
        out[i] = mail[31 - lane];
}

void exchange(const float *in, float *out, int n)
{
    exchange_without_syncwarp<<<(n + 31) / 32, 32>>>(in, out, n);
    exchange_with_syncwarp<<<(n + 31) / 32, 32>>>(in, out, n);
}

// Eight warps, each with a row of the array.
// run: block=32x8 grid=4 in=float[n] out=float[n] n=1024
// cudaperf: block=32x8
__global__ void rotate_rows_syncwarp(const float *in, float *out, int n)
{
    __shared__ float mine[8][32];
    int w = threadIdx.y, lane = threadIdx.x, i = (blockIdx.x * 8 + w) * 32 + lane;
    mine[w][lane] = i < n ? in[i] : 0.f;
    __syncwarp();
    float next = mine[w][(lane + 1) % 32];
    if (i < n)
        out[i] = next;
}

// run: block=32x8 grid=4 in=float[n] out=float[n] n=1024
// cudaperf: block=32x8
__global__ void rotate_rows_unsynchronized(const float *in, float *out, int n)
{
    __shared__ float mine[8][32];
    int w = threadIdx.y, lane = threadIdx.x, i = (blockIdx.x * 8 + w) * 32 + lane;
    mine[w][lane] = i < n ? in[i] : 0.f; // also: CP303; CP302
    float next = mine[w][(lane + 1) % 32]; // expect: CP303/CP302@mine
    if (i < n)
        out[i] = next;
}

// Sums by halves in shared memory: a read, a pause, a write, a pause.
// run: block=128 grid=4 in=float[n] out=float[16] n=500
// cudaperf: block=128
__global__ void warp_tree_in_shared(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, lane = t & 31, i = blockIdx.x * 128 + t;
    float v = i < n ? in[i] : 0.f;
    s[t] = v;
    __syncwarp();
    for (int d = 16; d > 0; d >>= 1) {
        if (lane < d)
            v += s[t + d];
        __syncwarp();
        s[t] = v;
        __syncwarp();
    }
    if (lane == 0)
        out[i / 32] = v;
}

// run: block=128 grid=4 in=float[n] out=float[16] n=500
// cudaperf: block=128
__global__ void warp_tree_unsynchronized(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, lane = t & 31, i = blockIdx.x * 128 + t;
    s[t] = i < n ? in[i] : 0.f; // also: CP303; CP302
    for (int d = 16; d > 0; d >>= 1) {
        if (lane < d)
            s[t] += s[t + d]; // expect: CP303/CP302@s
    }
    if (lane == 0)
        out[i / 32] = s[t];
}

// Lanes of one row of a grid leave the loop at their own time.
// run: block=64 grid=4 start=int[n]:below(200) out=int[n] n=256
__global__ void shuffle_in_ragged_loop(const int *start, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = 0, value = i < n ? start[i] : 0;
    while (value > 10) {
        value -= 7;
        count += __shfl_xor_sync(0xffffffff, value, 1); // expect: CP303
    }
    if (i < n)
        out[i] = count;
}

// run: block=64 grid=4 start=int[n]:below(200) out=int[n] n=256
__global__ void shuffle_until_all_done(const int *start, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = 0, value = i < n ? start[i] : 0;
    while (__any_sync(0xffffffff, value > 10)) {
        value -= 7;
        count += __shfl_xor_sync(0xffffffff, value, 1);
    }
    if (i < n)
        out[i] = count;
}

// run: block=128 grid=8 key=unsigned[n]:below(8) total=unsigned[8]:zero n=1000
__global__ void aggregate_equal_keys(const unsigned *key, unsigned *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned active = __ballot_sync(0xffffffffu, i < n);
    if (i >= n)
        return;
    unsigned k = key[i];
    unsigned same = __match_any_sync(active, k);
    int leader = __ffs(same) - 1;
    if ((threadIdx.x & 31) == leader)
        atomicAdd(&total[k], (unsigned)__popc(same)); // silent: CP101
}

// run: block=128 grid=8 in=float[n] out=float[n] n=1000 weight=3.0
__global__ void broadcast_of_lane_zero(const float *in, float *out, int n, float weight)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? in[i] : 0.f;
    float base = __shfl_sync(kAllLanes, v, 0);
    if (i < n)
        out[i] = (v - base) * weight;
}

// One row of lanes is missing at the else.
// run: block=64 grid=4 in=float[n] out=float[n] n=256
__global__ void shuffle_on_both_sides(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? in[i] : 0.f;
    if (threadIdx.x % 2 == 0)
        v += __shfl_down_sync(0xffffffffu, v, 2); // expect: CP303
    else
        v -= __shfl_up_sync(0xffffffffu, v, 2); // expect: CP303
    if (i < n)
        out[i] = v;
}
