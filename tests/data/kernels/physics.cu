// Particles, lattices, random walks.
#include <cuda_runtime.h>

// run: block=128 grid=4 position=float4[n] force=float3[n] n=512
// decides: CP104 CP201 CP202 CP203 CP304
__global__ void nbody_tiles(const float4 *position, float3 *force, int n)
{
    __shared__ float4 near[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float4 me = position[i];
    float3 f = make_float3(0.f, 0.f, 0.f);
    for (int base = 0; base < n; base += 128) {
        near[t] = position[base + t];
        __syncthreads();
        for (int k = 0; k < 128; ++k) {
            float dx = near[k].x - me.x, dy = near[k].y - me.y, dz = near[k].z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-4f);
            float w = near[k].w * r * r * r;
            f.x += w * dx;
            f.y += w * dy;
            f.z += w * dz;
        }
        __syncthreads();
    }
    force[i] = f; // also: CP101
}

// No barrier before the tile is used.
// run: block=128 grid=4 position=float4[n] potential=float[n] n=512
__global__ void nbody_tiles_racing(const float4 *position, float *potential, int n)
{
    __shared__ float4 near[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float4 me = position[i];
    float sum = 0.f;
    for (int base = 0; base < n; base += 128) {
        near[t] = position[base + t]; // also: CP302; CP303
        for (int k = 0; k < 128; ++k) {
            float4 o = near[k]; // expect: CP302@near
            float dx = o.x - me.x, dy = o.y - me.y;
            sum += o.w * rsqrtf(dx * dx + dy * dy + 1e-4f);
        }
        __syncthreads();
    }
    potential[i] = sum;
}

void nbody(const float4 *position, float3 *force, float *potential, int n)
{
    nbody_tiles<<<n / 128, 128>>>(position, force, n);
    nbody_tiles_racing<<<n / 128, 128>>>(position, potential, n);
}

// Newton's third law, both halves added: i and j may be anybody.
// run: block=128 grid=4 x=float[n] f=float[n]:zero n=500
// decides: CP104
__global__ void pair_forces_both(const float *x, float *f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int j = i + 1; j < n; ++j) {
        float d = x[j] - x[i]; // expect: CP104@x
        f[i] += d; // also: CP305
        f[j] -= d; // expect: CP305@f
    }
}

// run: block=128 grid=4 x=float[n] f=float[n]:zero n=500
// decides: CP104
__global__ void pair_forces_own(const float *x, float *f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.f;
    for (int j = 0; j < n; ++j)
        sum += x[j] - x[i];
    f[i] = sum;
}

// Nine populations a cell, side by side.
// run: block=64 grid=8 f=float[9*cells] density=float[cells] cells=500
__global__ void lattice_density_aos(const float *f, float *density, int cells)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < cells) {
        float rho = 0.f;
        for (int q = 0; q < 9; ++q)
            rho += f[c * 9 + q]; // expect: CP101@f sectors=32
        density[c] = rho;
    }
}

// run: block=64 grid=8 f=float[9*cells] density=float[cells] cells=500
// decides: CP104
__global__ void lattice_density_soa(const float *f, float *density, int cells)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < cells) {
        float rho = 0.f;
        for (int q = 0; q < 9; ++q)
            rho += f[q * cells + c];
        density[c] = rho;
    }
}

void density(const float *f, float *rho, int cells)
{
    lattice_density_aos<<<(cells + 63) / 64, 64>>>(f, rho, cells);
    lattice_density_soa<<<(cells + 63) / 64, 64>>>(f, rho, cells);
}

__device__ unsigned xorshift(unsigned s)
{
    s ^= s << 13;
    s ^= s >> 17;
    return s ^ (s << 5);
}

// The pairs drawn by a block, summed by halving.
// run: block=256 grid=4 hits=unsigned[4] draws=200 seed=17
// cudaperf: block=256
// decides: CP304
__global__ void circle_hits(unsigned *hits, int draws, unsigned seed)
{
    __shared__ unsigned inside[256];
    unsigned s = seed + 977u * (blockIdx.x * 256 + threadIdx.x) + 1, n = 0;
    for (int k = draws; k > 0; --k) {
        s = xorshift(s);
        float x = (s >> 8) * (1.f / 16777216.f);
        s = xorshift(s);
        float y = (s >> 8) * (1.f / 16777216.f);
        n += x * x + y * y < 1.f;
    }
    inside[threadIdx.x] = n;
    unsigned k = blockDim.x >> 1;
    while (k) {
        __syncthreads();
        if (threadIdx.x < k)
            inside[threadIdx.x] += inside[threadIdx.x + k];
        k >>= 1;
    }
    if (threadIdx.x == 0)
        hits[blockIdx.x] = inside[0];
}

// Thread 0 reads the sum of 0 and 1, but the barrier is at the wrong end of the loop, under its condition.
// run: block=256 grid=4 hits=unsigned[4] draws=20 seed=17
// cudaperf: block=256
__global__ void circle_hits_barrier_below(unsigned *hits, int draws, unsigned seed)
{
    __shared__ unsigned inside[256];
    unsigned s = seed + threadIdx.x + 1;
    for (int k = 0; k < draws; ++k)
        s = xorshift(s);
    inside[threadIdx.x] = s & 1; // also: CP302
    for (unsigned k = 128; threadIdx.x < k; k >>= 1) {
        inside[threadIdx.x] += inside[threadIdx.x + k]; // also: CP302
        __syncthreads(); // expect: CP301
    }
    __syncthreads(); // also: CP301
    if (threadIdx.x == 0)
        hits[blockIdx.x] = inside[0] + inside[1]; // also: CP302
}

// Spins of a checkerboard: a colour a launch.
// run: block=16x16 grid=4x4 spin=int[n*n]:below(2) n=64 colour=1
__global__ void flip_colour(int *spin, int n, int colour)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1 || ((x + y) & 1) != colour)
        return;
    int around = spin[y * n + x - 1] + spin[y * n + x + 1] + spin[(y - 1) * n + x] + spin[(y + 1) * n + x]; // also: CP101
    if (around > 2)
        spin[y * n + x] = 1; // also: CP101
}

void flip(int *spin, int n)
{
    dim3 block(16, 16), grid(n / 16, n / 16);
    flip_colour<<<grid, block>>>(spin, n, 0);
    flip_colour<<<grid, block>>>(spin, n, 1);
}
