// Clustering and random walks in templated C++.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cstdint>

namespace cg = cooperative_groups;

namespace detail {
template <typename T>
__device__ constexpr T square(T v)
{
    return v * v;
}

struct Generator {
    uint32_t state;
    __device__ explicit Generator(uint32_t seed) : state(seed * 747796405u + 2891336453u) {}
    __device__ uint32_t next()
    {
        state ^= state << 13;
        state ^= state >> 17;
        return state ^= state << 5;
    }
    __device__ float uniform() { return static_cast<float>(next() >> 8) * 0x1p-24f; }
};
} // namespace detail

// Points as rows of eight.
// run: block=128 grid=4 as=nearest_of_rows<8> points=float[n*8] centroids=float[k*8] label=int[n] n=500 k=5
template <int Dim>
__global__ void nearest_of_rows(const float *points, const float *centroids, int *label, int n, int k)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float best = 1e30f;
    int at = 0;
    for (int c = 0; c < k; ++c) {
        float sum = 0.f;
#pragma unroll 1
        for (int d = 0; d < Dim; ++d)
            sum += detail::square(points[i * Dim + d] - centroids[c * Dim + d]); // expect: CP101@points sectors=32
        if (sum < best) {
            best = sum;
            at = c;
        }
    }
    label[i] = at;
}

// Points as columns, centroids in shared memory.
// run: block=128 grid=4 as=nearest_of_columns<8,16> points=float[n*8] centroids=float[128] label=int[n] n=512
template <int Dim, int K>
__global__ void nearest_of_columns(const float *__restrict__ points, const float *__restrict__ centroids, int *__restrict__ label, int n)
{
    __shared__ float c[K][Dim];
    for (int j = threadIdx.x; j < K * Dim; j += blockDim.x)
        c[j / Dim][j % Dim] = centroids[j];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float best = 1e30f;
    int at = 0;
    for (int k = 0; k < K; ++k) {
        float sum = 0.f;
#pragma unroll
        for (int d = 0; d < Dim; ++d)
            sum += detail::square(points[d * n + i] - c[k][d]);
        if (sum < best)
            best = sum, at = k;
    }
    label[i] = at;
}

void assign(const float *points, const float *centroids, int *label, int n)
{
    nearest_of_rows<8><<<(n + 127) / 128, 128>>>(points, centroids, label, n, 16);
    nearest_of_columns<8, 16><<<(n + 127) / 128, 128>>>(points, centroids, label, n);
}

// run: block=32x8 grid=8 points=float[n*32] label=int[n]:below(5) sums=float[160]:zero members=int[5]:zero n=60
// cudaperf: block=32x8
__global__ void sum_members(const float *points, const int *label, float *sums, int *members, int n)
{
    const int i = blockIdx.x * 8 + threadIdx.y, d = threadIdx.x;
    if (i >= n)
        return;
    const int c = label[i];
    sums[c * 32 + d] += points[i * 32 + d]; // expect: CP305@sums
    if (d == 0)
        atomicAdd(&members[c], 1);
}

// run: block=32x8 grid=8 points=float[n*32] label=int[n]:below(5) sums=float[160]:zero members=int[5]:zero n=60
// cudaperf: block=32x8
__global__ void sum_members_atomically(const float *points, const int *label, float *sums, int *members, int n)
{
    const int i = blockIdx.x * 8 + threadIdx.y, d = threadIdx.x;
    if (i >= n)
        return;
    const int c = label[i];
    atomicAdd(&sums[c * 32 + d], points[i * 32 + d]);
    if (d == 0)
        atomicAdd(&members[c], 1);
}

// A tile of the others is replaced while slower warps still compare with it.
// run: block=128 grid=4 points=float2[n] nearest=float[n] n=512
// cudaperf: block=128
__global__ void nearest_neighbour(const float2 *points, float *nearest, int n)
{
    __shared__ float2 tile[128];
    const int t = threadIdx.x, i = blockIdx.x * 128 + t;
    const float2 own = points[i];
    float best = 1e30f;
    for (int base = 0; base < n; base += 128) {
        tile[t] = points[base + t]; // also: CP302
        __syncthreads();
        for (int k = 0; k < 128; ++k) {
            const float2 p = tile[k]; // expect: CP302@tile
            const float d = detail::square(p.x - own.x) + detail::square(p.y - own.y);
            if (base + k != i)
                best = fminf(best, d);
        }
    }
    nearest[i] = best;
}

// run: block=128 grid=4 shared=1024 points=float2[n] density=float[n] n=500 radius=0.1
__global__ void local_density(const float2 *points, float *density, int n, float radius)
{
    extern __shared__ float2 others[];
    auto block = cg::this_thread_block();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 own = i < n ? points[i] : make_float2(0.f, 0.f);
    float sum = 0.f;
    for (int base = 0; base < n; base += blockDim.x) {
        const int j = base + threadIdx.x;
        others[threadIdx.x] = j < n ? points[j] : make_float2(1e9f, 1e9f);
        block.sync();
        for (unsigned k = 0; k < blockDim.x; ++k)
            sum += detail::square(others[k].x - own.x) + detail::square(others[k].y - own.y) < radius;
        block.sync();
    }
    if (i < n)
        density[i] = sum;
}

void densities(const float2 *points, float *density, int n)
{
    constexpr int threads = 256;
    local_density<<<(n + threads - 1) / threads, threads, threads * sizeof(float2)>>>(points, density, n, 0.1f);
}

// The group's barrier is the block's, and half of the block skips it.
// run: block=128 grid=4 in=float[n] out=float[n] n=512
// cudaperf: block=128
__global__ void merge_clusters(const float *in, float *out, int n)
{
    __shared__ float merged[128];
    cg::thread_block block = cg::this_thread_block();
    const int t = block.thread_rank(), i = blockIdx.x * 128 + t;
    merged[t] = i < n ? in[i] : 0.f;
    block.sync();
    if (t < 64) {
        float both = merged[t] + merged[t + 64]; // also: CP302
        block.sync(); // expect: CP301
        merged[t] = both; // also: CP302
    }
    block.sync(); // also: CP301
    if (i < n)
        out[i] = merged[t & 63]; // also: CP302
}

// A step of all walkers after the other.
// run: block=128 grid=4 seeds=unsigned[n] visits=int[n*steps] n=512 steps=20
__global__ void walk_by_step(const unsigned *seeds, int *visits, int n, int steps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    detail::Generator random(seeds[i] + i);
    int at = 0;
    for (int s = 0; s < steps; ++s) {
        at += random.uniform() < 0.5f ? -1 : 1;
        visits[s * n + i] = at;
    }
}

// run: block=128 grid=4 seeds=unsigned[n] visits=int[n*steps] n=500 steps=20
__global__ void walk_by_walker(const unsigned *seeds, int *visits, int n, int steps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    detail::Generator random(seeds[i] + i);
    int *path = visits + i * steps;
    int at = 0;
    for (int s = 0; s < steps; ++s) {
        at += random.uniform() < 0.5f ? -1 : 1;
        path[s] = at; // expect: CP101@path sectors=32
    }
}

// Walkers that reach the edge stop; the neighbours still ask for their place.
// run: block=64 grid=4 seeds=unsigned[n] met=int[n] n=256
__global__ void walkers_meet(const unsigned *seeds, int *met, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    detail::Generator random(i < n ? seeds[i] : 1u);
    int at = 0, meetings = 0;
    for (int s = 0; s < 100; ++s) {
        at += random.uniform() < 0.5f ? -1 : 1;
        if (at > 5 || at < -5)
            break;
        meetings += __shfl_xor_sync(0xffffffffu, at, 1) == at; // expect: CP303
    }
    if (i < n)
        met[i] = meetings;
}

// Walks on a graph; where they end is counted.
// run: block=128 grid=4 neighbour=int[n*4]:below(n) seeds=unsigned[m] ends=int[n]:zero n=300 m=500
__global__ void walk_graph(const int *neighbour, const unsigned *seeds, int *ends, int n, int m)
{
    for (int w = blockIdx.x * blockDim.x + threadIdx.x; w < m; w += gridDim.x * blockDim.x) {
        detail::Generator random(seeds[w] + w);
        int v = w % n;
        for (int s = 0; s < 16; ++s)
            v = neighbour[v * 4 + (random.next() >> 16) % 4]; // silent: CP101
        atomicAdd(&ends[v], 1); // silent: CP101
    }
}

// Sixteen lanes make a team, by the library.
// run: block=128 grid=8 in=float[n] best=float[64] n=1024
// cudaperf: block=128
__global__ void best_of_team(const float *in, float *best, int n)
{
    auto team = cg::tiled_partition<16>(cg::this_thread_block());
    const int i = blockIdx.x * 128 + threadIdx.x;
    float v = i < n ? in[i] : 0.f;
    if (threadIdx.x < 64)
        for (int d = team.size() / 2; d > 0; d /= 2)
            v = fmaxf(v, team.shfl_xor(v, d));
    if (team.thread_rank() == 0)
        best[blockIdx.x * 8 + team.meta_group_rank()] = v;
}

// Outliers have no cluster, and leave before the block counts.
// run: block=128 grid=4 label=int[n]:below(12) size=int[8]:zero n=500
// cudaperf: block=128
__global__ void count_without_outliers(const int *label, int *size, int n)
{
    __shared__ int local[8];
    auto block = cg::this_thread_block();
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (threadIdx.x < 8)
        local[threadIdx.x] = 0;
    block.sync();
    const int c = i < n ? label[i] : -1;
    if (c < 0 || c >= 8)
        return; // expect: CP306
    atomicAdd(&local[c], 1); // silent: CP102
    block.sync(); // also: CP306
    if (threadIdx.x < 8)
        atomicAdd(&size[threadIdx.x], local[threadIdx.x]);
}
