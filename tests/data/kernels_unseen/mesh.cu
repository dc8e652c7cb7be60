// Fields on meshes: finite volumes, particles in cells, lattices, lines of equations.
#include <cuda_runtime.h>

#define NX 64
#define AT(x, y, z) (((z) * ny + (y)) * nx + (x))

struct Strip {
    float left[128];
    float right[128];
    float state[130];
};

// States with one ghost at each end, fluxes left and right of a cell.
// run: block=128 grid=8 u=float[n] out=float[n] n=1000 dt=0.1
// cudaperf: block=128
__global__ void advance_cells(const float *u, float *out, int n, float dt)
{
    __shared__ Strip strip;
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    strip.state[t + 1] = u[min(i, n - 1)];
    if (t == 0)
        strip.state[0] = u[max(i - 1, 0)];
    if (t == 127)
        strip.state[129] = u[min(i + 1, n - 1)];
    __syncthreads();
    float own = strip.state[t + 1];
    float in = 0.5f * (strip.state[t] + own), away = 0.5f * (own + strip.state[t + 2]);
    if (i < n)
        out[i] = own + dt * (in - away);
}

// The left flux of a cell is the right one of its neighbour, fetched without waiting.
// run: block=128 grid=8 u=float[n] out=float[n] n=1000 dt=0.1
// cudaperf: block=128
__global__ void advance_shared_flux(const float *u, float *out, int n, float dt)
{
    __shared__ Strip strip;
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float own = u[min(i, n - 1)], next = u[min(i + 1, n - 1)];
    strip.right[t] = 0.5f * own * own - 0.1f * (next - own); // also: CP302
    float in = t > 0 ? strip.right[t - 1] : 0.f; // expect: CP302
    if (i < n)
        out[i] = own + dt * (in - (0.5f * own * own - 0.1f * (next - own)));
}

// run: block=32x4x2 grid=2x4x4 in=float[nx*ny*nz] out=float[nx*ny*nz] nx=64 ny=15 nz=7
// cudaperf: block=32x4x2
__global__ void laplace_volume(const float *in, float *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    float around = in[AT(x - 1, y, z)] + in[AT(x + 1, y, z)];
    around += in[AT(x, y - 1, z)] + in[AT(x, y + 1, z)];
    around += in[AT(x, y, z - 1)] + in[AT(x, y, z + 1)];
    out[AT(x, y, z)] = around - 6.f * in[AT(x, y, z)];
}

// Fortran's order met C's: x is the slowest.
// run: block=32x4x2 grid=2x4x4 in=float[nx*ny*nz] out=float[nx*ny*nz] nx=64 ny=16 nz=8
// cudaperf: block=32x4x2
__global__ void scale_slow_x(const float *in, float *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    int at = (x * ny + y) * nz + z;
    float v = in[at]; // expect: CP101@in sectors=32
    out[at] = v * 1.5f; // expect: CP101@out sectors=32
}

// Charge goes to the two nearest nodes.
// run: block=256 grid=8 x=float[n] charge=float[65]:zero n=2000
__global__ void deposit_charge(const float *x, float *charge, int n)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    float at = x[p] * NX;
    int cell = (int)at;
    float w = at - cell;
    charge[cell] += 1.f - w; // expect: CP305@charge // silent: CP101
    charge[cell + 1] += w; // expect: CP305@charge // silent: CP101
}

// run: block=256 grid=8 x=float[n] charge=float[65]:zero n=2000
// cudaperf: block=256
__global__ void deposit_charge_in_shared(const float *x, float *charge, int n)
{
    __shared__ float local[NX + 1];
    for (int k = threadIdx.x; k <= NX; k += 256)
        local[k] = 0.f;
    __syncthreads();
    int p = blockIdx.x * 256 + threadIdx.x;
    if (p < n) {
        float at = x[p] * NX;
        int cell = (int)at;
        atomicAdd(&local[cell], cell + 1 - at); // silent: CP102
        atomicAdd(&local[cell + 1], at - cell); // silent: CP102
    }
    __syncthreads();
    for (int k = threadIdx.x; k <= NX; k += 256)
        atomicAdd(&charge[k], local[k]);
}

// run: block=256 grid=8 field=float[65] x=float[n] v=float[n] n=2000 dt=0.01
__global__ void push_particles(const float *field, float *x, float *v, int n, float dt)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    int cell = min(max((int)(x[p] * NX), 0), NX - 1);
    float e = 0.5f * (field[cell] + field[cell + 1]); // silent: CP101
    float speed = v[p] + dt * e;
    v[p] = speed;
    x[p] += dt * speed;
}

// Nine directions of a cell side by side.
// run: block=128 grid=4 f=float[cells*9] density=float[cells] cells=500
__global__ void density_by_cell(const float *f, float *density, int cells)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells)
        return;
    float sum = 0.f;
    for (int d = 0; d < 9; ++d)
        sum += f[c * 9 + d]; // expect: CP101@f
    density[c] = sum;
}

// run: block=128 grid=4 f=float[cells*9] density=float[cells] cells=512
__global__ void density_by_direction(const float *f, float *density, int cells)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells)
        return;
    float sum = 0.f;
    for (int d = 0; d < 9; ++d)
        sum += f[d * cells + c];
    density[c] = sum;
}

void lattice(const float *f, float *density, int cells)
{
    density_by_cell<<<(cells + 127) / 128, 128>>>(f, density, cells);
    density_by_direction<<<(cells + 127) / 128, 128>>>(f, density, cells);
}

// One line of equations a block: reduction by odd and even, in place, with a pause between reading and writing.
// run: block=128 grid=4 a=float[512] b=float[512] d=float[512]
// cudaperf: block=128
__global__ void reduce_cyclic(const float *a, const float *b, float *d)
{
    __shared__ float off[128], right[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    off[t] = 0.25f * a[i];
    right[t] = d[i] / (1.f + b[i]);
    for (int gap = 1; gap < 128; gap *= 2) {
        __syncthreads();
        float o = off[t], r = right[t];
        if (t >= gap) {
            r -= o * right[t - gap];
            o *= off[t - gap];
        }
        __syncthreads();
        off[t] = o;
        right[t] = r;
    }
    d[i] = right[t];
}

// run: block=128 grid=4 a=float[512] b=float[512] d=float[512]
// cudaperf: block=128
__global__ void reduce_cyclic_hasty(const float *a, const float *b, float *d)
{
    __shared__ float off[128], right[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    off[t] = 0.25f * a[i];
    right[t] = d[i] / (1.f + b[i]);
    for (int gap = 1; gap < 128; gap *= 2) {
        __syncthreads();
        float o = off[t], r = right[t];
        if (t >= gap) {
            r -= o * right[t - gap]; // also: CP302
            o *= off[t - gap]; // also: CP302
        }
        off[t] = o; // expect: CP302@off
        right[t] = r; // expect: CP302@right
    }
    d[i] = right[t];
}

// Red, then black: a colour reads only the other one.
// run: block=32x8 grid=4 in=float[1024] out=float[1024] sweeps=5
// cudaperf: block=32x8
__global__ void red_and_black(const float *in, float *out, int sweeps)
{
    __shared__ float u[10][34];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1, i = blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256)
        u[k / 34][k % 34] = 0.f;
    __syncthreads();
    u[ty][tx] = in[i];
    __syncthreads();
    for (int s = 0; s < 2 * sweeps; ++s) {
        if (((tx + ty + s) & 1) == 0)
            u[ty][tx] = 0.25f * (u[ty][tx - 1] + u[ty][tx + 1] + u[ty - 1][tx] + u[ty + 1][tx]);
        __syncthreads();
    }
    out[i] = u[ty][tx];
}

// The converged cells do not come to the barrier any more.
// run: block=64 grid=4 in=float[256] out=float[256] limit=0.01
// cudaperf: block=64
__global__ void relax_until_calm(const float *in, float *out, float limit)
{
    __shared__ float u[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    u[t + 1] = in[i];
    if (t == 0)
        u[0] = u[65] = 0.f;
    __syncthreads();
    float change = 1.f;
    for (int k = 0; k < 100 && change > limit; ++k) {
        float next = 0.5f * (u[t] + u[t + 2]); // also: CP302
        __syncthreads(); // expect: CP301
        change = fabsf(next - u[t + 1]);
        u[t + 1] = next; // also: CP302
        __syncthreads(); // also: CP301
    }
    out[i] = u[t + 1];
}

// The block asks together.
// run: block=64 grid=4 in=float[256] out=float[256] limit=0.01
// cudaperf: block=64
__global__ void relax_together(const float *in, float *out, float limit)
{
    __shared__ float u[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    u[t + 1] = in[i];
    if (t == 0)
        u[0] = u[65] = 0.f;
    __syncthreads();
    for (int k = 0; k < 100; ++k) {
        float next = 0.5f * (u[t] + u[t + 2]);
        bool moves = fabsf(next - u[t + 1]) > limit;
        if (!__syncthreads_or(moves))
            break;
        u[t + 1] = next;
        __syncthreads();
    }
    out[i] = u[t + 1];
}

// Ghost cells of the domain return; their block does not.
// run: block=32x8 grid=2x8 in=float[64*60] out=float[64*60] w=64 h=60
// cudaperf: block=32x8
__global__ void gradient_without_ghosts(const float *in, float *out, int w, int h)
{
    __shared__ float s[8][32];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
    bool ghost = x == 0 || x == w - 1 || y >= h;
    if (ghost)
        return; // expect: CP306
    s[ty][tx] = in[y * w + x];
    __syncthreads(); // also: CP306
    int up = ty == 7 ? 7 : ty + 1, down = ty == 0 ? 0 : ty - 1;
    out[y * w + x] = s[up][tx] - s[down][tx];
}
