// Who writes where: one address by several threads, with and without an atomic.
#include <cuda_runtime.h>

// run: block=256 grid=16 data=unsigned[n]:below(bins) hist=unsigned[bins]:zero n=4000 bins=64
__global__ void histogram_plain(const unsigned *data, unsigned *hist, int n, int bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        hist[data[i]]++; // expect: CP305@hist // silent: CP101
}

// run: block=256 grid=16 data=unsigned[n]:below(bins) hist=unsigned[bins]:zero n=4000 bins=64
__global__ void histogram_atomic(const unsigned *data, unsigned *hist, int n, int bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&hist[data[i]], 1u); // silent: CP101
}

// run: block=256 grid=8 data=unsigned[n]:below(64) hist=unsigned[64]:zero n=4000
// decides: CP104 CP201 CP202 CP203
__global__ void histogram_private(const unsigned *data, unsigned *hist, int n)
{
    __shared__ unsigned local[64];
    for (int b = threadIdx.x; b < 64; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u); // silent: CP102
    __syncthreads();
    for (int b = threadIdx.x; b < 64; b += blockDim.x)
        atomicAdd(&hist[b], local[b]);
}

void histograms(const unsigned *data, unsigned *hist, int n, int bins)
{
    histogram_plain<<<(n + 255) / 256, 256>>>(data, hist, n, bins);
    histogram_atomic<<<(n + 255) / 256, 256>>>(data, hist, n, bins);
    histogram_private<<<64, 256>>>(data, hist, n); // expect: CP203
}

// run: block=256 grid=8 data=unsigned[n]:below(64) hist=unsigned[64]:zero n=4000
// cudaperf: block=256
__global__ void histogram_private_plain(const unsigned *data, unsigned *hist, int n)
{
    __shared__ unsigned local[64];
    if (threadIdx.x < 64)
        local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        local[data[i]] += 1; // expect: CP305/CP302@local // silent: CP102
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(&hist[threadIdx.x], local[threadIdx.x]);
}

// run: block=128 grid=8 in=float[n] out=float[8] n=1000
__global__ void block_result_by_all(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? in[i] * in[i] : 0.f;
    out[blockIdx.x] = v; // expect: CP305@out
}

// run: block=128 grid=8 in=float[n] out=float[8] n=1000
// decides: CP105
__global__ void block_result_by_first(const float *in, float *out, int n) // expect: CP105@in
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? in[i] * in[i] : 0.f;
    if (threadIdx.x == 0)
        out[blockIdx.x] = v;
}

void block_results(const float *in, float *out, int n)
{
    dim3 block(128);
    block_result_by_all<<<(n + 127) / 128, block>>>(in, out, n);
    block_result_by_first<<<(n + 127) / 128, block>>>(in, out, n);
}

// All blocks write the first elements.
// run: block=128 grid=8 in=float[n] out=float[128] n=1024
__global__ void last_block_wins(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[threadIdx.x] = in[i]; // expect: CP305@out
}

void collide(const float *in, float *out, int n)
{
    last_block_wins<<<(n + 127) / 128, 128>>>(in, out, n);
}

// The same constant from everywhere is how a flag is set.
// run: block=256 grid=16 value=float[n] found=int[1]:zero n=4000 limit=0.9
__global__ void any_above(const float *value, int *found, int n, float limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && value[i] > limit)
        *found = 1;
}

// run: block=256 grid=16 a=float[n] half=float[n] n=4000
__global__ void two_to_one(const float *a, float *half, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        half[i / 2] = a[i]; // expect: CP305@half
}

// run: block=256 grid=8 a=float[n] half=float[n] n=4000
// decides: CP103
__global__ void two_by_one(const float *a, float *half, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 < n)
        half[i] = fmaxf(a[2 * i], a[2 * i + 1]); // also: CP101 // expect: CP103@a
}

// run: block=32x8 grid=4x8 a=float[rows*cols] sums=float[cols]:zero rows=60 cols=120
// cudaperf: block=32x8
__global__ void column_sums_collide(const float *a, float *sums, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols)
        sums[c] += a[r * cols + c]; // expect: CP305@sums
}

// run: block=32x8 grid=4x8 a=float[rows*cols] sums=float[cols]:zero rows=60 cols=120
// cudaperf: block=32x8
__global__ void column_sums_atomic(const float *a, float *sums, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols)
        atomicAdd(sums + c, a[r * cols + c]);
}

// Each edge pushes into both its cells.
// run: block=256 grid=16 flux=float[n] cell=float[n+1]:zero n=4000
__global__ void scatter_flux(const float *flux, float *cell, int n)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n) {
        cell[e] -= flux[e]; // also: CP305
        cell[e + 1] += flux[e]; // expect: CP305@cell
    }
}

// The same as a gather.
// run: block=256 grid=16 flux=float[n] cell=float[n] n=4000
// decides: CP103 CP105
__global__ void gather_flux(const float *flux, float *cell, int n) // expect: CP105@flux
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c > 0 && c < n)
        cell[c] += flux[c - 1] - flux[c];
}

// A permutation: no two the same, and no one can see it from here.
// run: block=256 grid=16 from=float[n] slot=int[n]:perm to=float[n] n=4000
__global__ void scatter_permuted(const float *from, const int *slot, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[slot[i]] = from[i]; // silent: CP101; CP305
}

// The leader of a row of threads, not of the block.
// run: block=32x8 grid=4 in=float[n] out=float[4] n=1024
// cudaperf: block=32x8
__global__ void leader_of_each_row(const float *in, float *out, int n)
{
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    int i = blockIdx.x * blockDim.x * blockDim.y + t;
    float v = i < n ? in[i] : 0.f;
    for (int o = 16; o > 0; o >>= 1)
        v += __shfl_down_sync(0xffffffff, v, o);
    if (threadIdx.x == 0)
        out[blockIdx.x] = v; // expect: CP305@out
}
