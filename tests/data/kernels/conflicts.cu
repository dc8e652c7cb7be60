// Writes that meet, and writes that look as if they did.
#include <cuda_runtime.h>

// run: block=256 grid=8 x=float[n] mean=float[1]:zero n=2000
__global__ void mean_without_atomic(const float *x, float *mean, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        mean[0] += x[i] / n; // expect: CP305@mean
}

// run: block=256 grid=8 x=float[n] mean=float[1]:zero n=2000
__global__ void mean_with_atomic(const float *x, float *mean, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(mean, x[i] / n);
}

// run: block=16x16 grid=8x8 a=float[n*n] diagonal=float[n] n=128
// cudaperf: block=16x16
__global__ void keep_row_sum(const float *a, float *diagonal, int n)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < n && y < n)
        diagonal[y] = a[y * n + x] * 2.f; // expect: CP305@diagonal
}

// run: block=16x16 grid=8x8 a=float[n*n] diagonal=float[n] n=128
// cudaperf: block=16x16
__global__ void keep_diagonal(const float *a, float *diagonal, int n)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x == y && x < n)
        diagonal[y] = a[y * n + x]; // also: CP101
}

// run: block=64 grid=4 in=float[n] out=float[n] n=256
// cudaperf: block=64
__global__ void shared_result_by_all(const float *in, float *out, int n)
{
    __shared__ float scale;
    int i = blockIdx.x * 64 + threadIdx.x;
    scale = in[i]; // expect: CP305/CP302@scale
    __syncthreads();
    out[i] = in[i] * scale;
}

// run: block=64 grid=4 in=float[n] out=float[n] n=256
// cudaperf: block=64
__global__ void shared_result_by_last(const float *in, float *out, int n)
{
    __shared__ float scale;
    int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x == blockDim.x - 1)
        scale = in[i];
    __syncthreads();
    out[i] = in[i] * scale;
}

// Eight threads to one slot.
// run: block=128 grid=8 in=int[n] out=int[n] n=1000
__global__ void one_slot_for_eight(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i >> 3] = in[i]; // expect: CP305@out
}

// run: block=128 grid=8 in=int[n] out=int[n] n=1000
__global__ void one_slot_for_the_first_of_eight(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % 8 == 0)
        out[i >> 3] = in[i]; // also: CP101
}

void slots(const int *in, int *out, int n)
{
    one_slot_for_eight<<<(n + 127) / 128, 128>>>(in, out, n);
    one_slot_for_the_first_of_eight<<<(n + 127) / 128, 128>>>(in, out, n);
}

// A ring of slots, shorter than the grid.
// run: block=128 grid=8 in=float[n] ring=float[100] n=1000
__global__ void ring_of_hundred(const float *in, float *ring, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        ring[i % 100] = in[i]; // expect: CP305@ring
}

void ring(const float *in, float *slots, int n)
{
    ring_of_hundred<<<(n + 127) / 128, 128>>>(in, slots, n);
}

// Halos overlap: the last elements of a block are the first of the next.
// run: block=128 grid=8 in=float[n] out=float[n] n=1000
// cudaperf: block=128
__global__ void overlapping_blocks(const float *in, float *out, int n)
{
    int i = blockIdx.x * 120 + threadIdx.x;
    if (i < n)
        out[i] = in[i] + blockIdx.x; // expect: CP305@out
}

// run: block=128 grid=9 in=float[n] out=float[n] n=1000
// cudaperf: block=128
__global__ void overlapping_reads_only(const float *in, float *out, int n)
{
    int i = blockIdx.x * 120 + threadIdx.x;
    if (i < n && threadIdx.x < 120)
        out[i] = in[i] + blockIdx.x;
}

// Everybody may set the flag; nobody sets anything else.
// run: block=128 grid=8 level=int[n]:below(4) changed=int[1]:zero n=1000
__global__ void clear_and_flag(int *level, int *changed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && level[i] == 3) {
        level[i] = 0;
        *changed = 1;
    }
}

// Counting by hand.
// run: block=128 grid=8 level=int[n]:below(4) count=int[1]:zero n=1000
__global__ void count_by_hand(const int *level, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && level[i] == 3)
        (*count)++; // expect: CP305@count
}

// run: block=128 grid=8 level=int[n]:below(4) count=int[1]:zero n=1000
__global__ void count_by_ballot(const int *level, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned votes = __ballot_sync(0xffffffffu, i < n && level[i] == 3);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(count, __popc(votes));
}

// run: block=32 grid=64 a=float[64*32] top=float[64]
// cudaperf: block=32
__global__ void row_top_all_lanes(const float *a, float *top)
{
    float v = a[blockIdx.x * 32 + threadIdx.x];
    for (int m = 16; m > 0; m >>= 1)
        v = fmaxf(v, __shfl_down_sync(0xffffffff, v, m));
    top[blockIdx.x] = v; // expect: CP305@top
}

// run: block=32 grid=64 a=float[64*32] top=float[64]
// cudaperf: block=32
__global__ void row_top_lane_zero(const float *a, float *top)
{
    float v = a[blockIdx.x * 32 + threadIdx.x];
    for (int m = 16; m > 0; m >>= 1)
        v = fmaxf(v, __shfl_down_sync(0xffffffff, v, m));
    if (threadIdx.x == 0)
        top[blockIdx.x] = v;
}

// Two planes of threads, one plane of results.
// run: block=16x8x2 grid=4 in=float[n] out=float[n] n=1024
// cudaperf: block=16x8x2
__global__ void planes_collide(const float *in, float *out, int n)
{
    int t = threadIdx.y * 16 + threadIdx.x, i = blockIdx.x * 128 + t;
    if (i < n)
        out[i] = in[i] * (1 + threadIdx.z); // expect: CP305@out
}

// Bonds pull both atoms; each atom has several bonds.
// run: block=128 grid=8 first=int[n]:below(m) second=int[n]:below(m) force=float[m]:zero n=1000 m=300
__global__ void bond_forces(const int *first, const int *second, float *force, int n, int m)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= n)
        return;
    float pull = 1.f / (1 + b % m);
    force[first[b]] += pull; // expect: CP305@force // silent: CP101
    force[second[b]] -= pull; // expect: CP305@force // silent: CP101
}

// run: block=128 grid=8 first=int[n]:below(m) second=int[n]:below(m) force=float[m]:zero n=1000 m=300
__global__ void bond_forces_atomic(const int *first, const int *second, float *force, int n, int m)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= n)
        return;
    float pull = 1.f / (1 + b % m);
    atomicAdd(&force[first[b]], pull); // silent: CP101
    atomicAdd(&force[second[b]], -pull); // silent: CP101
}
