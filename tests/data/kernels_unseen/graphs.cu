// Graphs and sparse matrices: CSR, ELL, COO, blocks.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

typedef int vertex_t;

// One level of a breadth-first search; who marks a vertex first, queues it.
// run: block=128 grid=4 offsets=int[n+1]:offsets(m) targets=int[m]:below(n) depth=int[n]:fill(-1) queue=int[n]:iota count=int[1]:zero n=500 m=3000 level=2
__global__ void expand_frontier(const int *offsets, const vertex_t *targets, int *depth, vertex_t *queue, int *count, int n, int m, int level)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    for (int e = offsets[v]; e < offsets[v + 1] && e < m; ++e) {
        vertex_t u = targets[e]; // silent: CP101
        if (atomicCAS(&depth[u], -1, level) == -1) // silent: CP101
            queue[atomicAdd(count, 1)] = u; // silent: CP101; CP305
    }
}

// The queue's end is moved by hand.
// run: block=128 grid=4 depth=int[n]:below(4) queue=int[n]:zero count=int[1]:zero n=500 level=2
__global__ void collect_level(const int *depth, vertex_t *queue, int *count, int n, int level)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && depth[v] == level) {
        int at = *count;
        if (at < n)
            queue[at] = v; // also: CP305 // silent: CP101
        *count = at + 1; // expect: CP305@count
    }
}

// run: block=256 grid=2 value=float[rows*width] column=int[rows*width]:below(rows) x=float[rows] y=float[rows] rows=500 width=12
__global__ void ell_row_major(const float *value, const int *column, const float *x, float *y, int rows, int width)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0.f;
    for (int k = 0; k < width; ++k) {
        int c = column[r * width + k]; // expect: CP101@column sectors=32
        float v = value[r * width + k]; // expect: CP101@value sectors=32
        sum += v * x[c]; // silent: CP101
    }
    y[r] = sum;
}

// run: block=256 grid=2 value=float[rows*width] column=int[rows*width]:below(rows) x=float[rows] y=float[rows] rows=512 width=12
__global__ void ell_column_major(const float *value, const int *column, const float *x, float *y, int rows, int width)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0.f;
    for (int k = 0; k < width; ++k) {
        int c = column[k * rows + r];
        float v = value[k * rows + r];
        sum += v * x[c]; // silent: CP101
    }
    y[r] = sum;
}

void ell(const float *value, const int *column, const float *x, float *y, int rows, int width)
{
    ell_row_major<<<(rows + 255) / 256, 256>>>(value, column, x, y, rows, width);
    ell_column_major<<<(rows + 255) / 256, 256>>>(value, column, x, y, rows, width);
}

// run: block=256 grid=8 row=int[nz]:below(rows) column=int[nz]:below(rows) value=float[nz] x=float[rows] y=float[rows]:zero nz=2000 rows=300
__global__ void coo_product(const int *row, const int *column, const float *value, const float *x, float *y, int nz, int rows)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < nz && row[e] < rows)
        y[row[e]] += value[e] * x[column[e]]; // expect: CP305@y // silent: CP101
}

// run: block=256 grid=8 row=int[nz]:below(rows) column=int[nz]:below(rows) value=float[nz] x=float[rows] y=float[rows]:zero nz=2000 rows=300
__global__ void coo_product_atomic(const int *row, const int *column, const float *value, const float *x, float *y, int nz, int rows)
{
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < nz; e += blockDim.x * gridDim.x) {
        int r = row[e];
        if (r < rows)
            atomicAdd(&y[r], value[e] * x[column[e]]); // silent: CP101
    }
}

// Blocks of 4x4; a thread has one place of the block, z is the block row.
// run: block=4x4x8 grid=8 offsets=int[rows+1]:offsets(64) column=int[64]:below(rows) value=float[1024] x=float[rows*4] y=float[rows*4] rows=60
// cudaperf: block=4x4x8
__global__ void bsr_product(const int *offsets, const int *column, const float *value, const float *x, float *y, int rows)
{
    int c = threadIdx.x, r = threadIdx.y, row = blockIdx.x * 8 + threadIdx.z;
    float sum = 0.f;
    if (row < rows)
        for (int b = offsets[row]; b < offsets[row + 1]; ++b)
            sum += value[(b * 4 + r) * 4 + c] * x[column[b] * 4 + c]; // silent: CP101
    sum += __shfl_xor_sync(0xffffffffu, sum, 1, 4);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2, 4);
    if (row < rows && c == 0)
        y[row * 4 + r] = sum;
}

// A whole warp leaves or stays.
// run: block=128 grid=16 offsets=int[rows+1]:offsets(nz) value=float[nz] sums=float[rows] rows=61 nz=4000
__global__ void row_sums_by_warp(const int *offsets, const float *value, float *sums, int rows, int nz)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    float sum = 0.f;
    for (int e = offsets[row] + lane; e < offsets[row + 1] && e < nz; e += 32)
        sum += value[e];
#pragma unroll
    for (int d = 16; d; d >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0)
        sums[row] = sum;
}

// The sum was moved into the loop, which lanes leave one by one.
// run: block=128 grid=16 offsets=int[rows+1]:offsets(nz) value=float[nz] sums=float[rows]:zero rows=61 nz=4000
__global__ void row_sums_inside_loop(const int *offsets, const float *value, float *sums, int rows, int nz)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    float total = 0.f;
    for (int e = offsets[row] + lane; e < offsets[row + 1] && e < nz; e += 32) {
        float part = value[e];
        for (int d = 16; d; d >>= 1)
            part += __shfl_xor_sync(0xffffffff, part, d); // expect: CP303
        total += part;
    }
    if (lane == 0)
        sums[row] = total;
}

// run: block=256 grid=8 offsets=int[rows+1]:offsets(nz) value=float[nz] peak=float[rows] rows=256 nz=4000
// cudaperf: block=256
__global__ void row_peaks_by_tile(const int *offsets, const float *value, float *peak, int rows, int nz)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int row = blockIdx.x * 32 + tile.meta_group_rank();
    float best = 0.f;
    if (row < rows)
        for (int e = offsets[row] + tile.thread_rank(); e < min(offsets[row + 1], nz); e += 8)
            best = fmaxf(best, value[e]); // silent: CP101
    best = cg::reduce(tile, best, cg::greater<float>());
    if (row < rows && tile.thread_rank() == 0)
        peak[row] = best;
}

// run: block=256 grid=4 rank=float[n] degree=int[n]:below(5) dangling=float[1]:zero share=float[n] n=1000
__global__ void rank_shares(const float *rank, const int *degree, float *dangling, float *share, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    if (degree[v] == 0) {
        *dangling += rank[v]; // expect: CP305@dangling
        share[v] = 0.f;
        return;
    }
    share[v] = rank[v] / degree[v];
}

// A block has a vertex, so a block leaves as a whole.
// run: block=64 grid=40 offsets=int[n+1]:offsets(m) targets=int[m]:below(n) wedges=int[n] n=37 m=400
// cudaperf: block=64
__global__ void count_wedges(const int *offsets, const vertex_t *targets, int *wedges, int n, int m)
{
    __shared__ vertex_t near[64];
    __shared__ int closed;
    int v = blockIdx.x, t = threadIdx.x;
    if (v >= n)
        return;
    int first = offsets[v], degree = min(min(offsets[v + 1], m) - first, 64);
    if (t == 0)
        closed = 0;
    if (t < degree)
        near[t] = targets[first + t];
    __syncthreads();
    if (t < degree) {
        int hits = 0;
        for (int k = 0; k < degree; ++k)
            hits += near[k] > near[t];
        atomicAdd(&closed, hits);
    }
    __syncthreads();
    if (t == 0)
        wedges[v] = closed;
}

// Every vertex has its own number of rounds, and a barrier in each.
// run: block=128 grid=4 offsets=int[n+1]:offsets(m) weight=int[m]:below(9) out=int[n] n=512 m=2000
// cudaperf: block=128
__global__ void stage_edges(const int *offsets, const int *weight, int *out, int n, int m)
{
    __shared__ int staged[128];
    int t = threadIdx.x, v = blockIdx.x * 128 + t, sum = 0;
    if (v < n)
        for (int e = offsets[v]; e < min(offsets[v + 1], m); ++e) {
            staged[t] = weight[e]; // also: CP302 // silent: CP101
            __syncthreads(); // expect: CP301
            sum += staged[t ^ 1]; // also: CP302; CP303
        }
    if (v < n)
        out[v] = sum;
}

// run: block=128 grid=8 a=int[n]:below(m) b=int[n]:below(m) label=int[m]:iota changed=int[1]:zero n=1000 m=300
__global__ void propagate_labels(const int *a, const int *b, int *label, int *changed, int n, int m)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n || a[e] >= m || b[e] >= m)
        return;
    int low = min(a[e], b[e]), high = max(a[e], b[e]);
    int mine = atomicAdd(&label[low], 0); // silent: CP101
    if (atomicMin(&label[high], mine) > mine) // silent: CP101
        *changed = 1;
}

// The vote is on the right of `&&`: who has nothing to say does not come.
// run: block=128 grid=4 depth=int[n]:below(6) out=int[n] n=500 level=3
__global__ void any_at_level(const int *depth, int *out, int n, int level)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    bool mine = v < n && depth[v] >= level;
    bool some = mine && __syncthreads_or(depth[v] == level); // expect: CP301
    if (v < n)
        out[v] = some;
}
