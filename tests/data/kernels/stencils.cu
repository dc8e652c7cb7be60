// Stencils, with halos in shared memory or without.
#include <cuda_runtime.h>

#define RADIUS 3
#define TX 32
#define TY 8

// run: block=128 grid=8 in=float[n+2*3] out=float[n] n=1000
// decides: CP201 CP202 CP203 CP304
__global__ void stencil_1d(const float *in, float *out, int n)
{
    __shared__ float temp[128 + 2 * RADIUS];
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    int l = threadIdx.x + RADIUS;
    temp[l] = g < n ? in[g + RADIUS] : 0.f;
    if (threadIdx.x < RADIUS) {
        temp[l - RADIUS] = g < n ? in[g] : 0.f;
        temp[l + 128] = g + 128 < n ? in[g + 128 + RADIUS] : 0.f;
    }
    __syncthreads();
    float sum = 0.f;
    for (int o = -RADIUS; o <= RADIUS; ++o)
        sum += temp[l + o];
    if (g < n)
        out[g] = sum;
}

// run: block=128 grid=8 in=float[n+2*3] out=float[n] n=1000
__global__ void stencil_1d_no_barrier(const float *in, float *out, int n)
{
    __shared__ float temp[128 + 2 * RADIUS];
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    int l = threadIdx.x + RADIUS;
    temp[l] = g < n ? in[g + RADIUS] : 0.f; // also: CP302; CP303
    if (threadIdx.x < RADIUS) {
        temp[l - RADIUS] = g < n ? in[g] : 0.f; // also: CP302; CP303
        temp[l + 128] = g + 128 < n ? in[g + 128 + RADIUS] : 0.f; // also: CP302; CP303
    }
    float sum = 0.f;
    for (int o = -RADIUS; o <= RADIUS; ++o)
        sum += temp[l + o]; // expect: CP302@temp
    if (g < n)
        out[g] = sum;
}

void stencil(const float *in, float *out, int n)
{
    stencil_1d<<<(n + 127) / 128, 128>>>(in, out, n);
    stencil_1d_no_barrier<<<(n + 127) / 128, 128>>>(in, out, n);
}

// run: block=32x8 grid=4x16 u=float[nx*ny] v=float[nx*ny] nx=120 ny=125
// cudaperf: block=32x8
// decides: CP103
__global__ void jacobi_global(const float *u, float *v, int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1)
        v[j * nx + i] = 0.25f * (u[j * nx + i - 1] + u[j * nx + i + 1] + u[(j - 1) * nx + i] + u[(j + 1) * nx + i]);
}

// run: block=32x8 grid=4x16 u=float[nx*ny] v=float[nx*ny] nx=128 ny=128
// cudaperf: block=32x8
// decides: CP304
__global__ void jacobi_shared(const float *u, float *v, int nx, int ny)
{
    __shared__ float s[TY + 2][TX + 2];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int i = blockIdx.x * TX + threadIdx.x, j = blockIdx.y * TY + threadIdx.y;
    s[ty][tx] = u[j * nx + i];
    if (threadIdx.x == 0)
        s[ty][0] = i > 0 ? u[j * nx + i - 1] : 0.f;
    if (threadIdx.x == TX - 1)
        s[ty][TX + 1] = i < nx - 1 ? u[j * nx + i + 1] : 0.f;
    if (threadIdx.y == 0)
        s[0][tx] = j > 0 ? u[(j - 1) * nx + i] : 0.f;
    if (threadIdx.y == TY - 1)
        s[TY + 1][tx] = j < ny - 1 ? u[(j + 1) * nx + i] : 0.f;
    __syncthreads();
    v[j * nx + i] = 0.25f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
}

// The halo's rows come after the barrier.
// run: block=32x8 grid=4x16 u=float[nx*ny] v=float[nx*ny] nx=128 ny=128
// cudaperf: block=32x8
__global__ void jacobi_late_halo(const float *u, float *v, int nx, int ny)
{
    __shared__ float s[TY + 2][TX];
    int tx = threadIdx.x, ty = threadIdx.y + 1;
    int i = blockIdx.x * TX + tx, j = blockIdx.y * TY + threadIdx.y;
    s[ty][tx] = u[j * nx + i];
    __syncthreads();
    if (threadIdx.y == 0 && j > 0)
        s[0][tx] = u[(j - 1) * nx + i];
    if (threadIdx.y == 1 && j + TY - 1 < ny)
        s[TY + 1][tx] = u[(j + TY - 1) * nx + i]; // also: CP302
    v[j * nx + i] = 0.5f * (s[ty - 1][tx] + s[ty + 1][tx]); // expect: CP302@s
}

// In place, without a copy: neighbours' new and old values mix, within a block and between blocks.
// run: block=256 grid=8 u=float[n] n=2000
__global__ void smooth_in_place_shared(float *u, int n)
{
    __shared__ float s[1024];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? u[i] : 0.f;
    __syncthreads();
    for (int sweep = 0; sweep < 4; ++sweep) {
        if (t > 0 && t < blockDim.x - 1)
            s[t] = 0.5f * s[t] + 0.25f * (s[t - 1] + s[t + 1]); // expect: CP302@s
        __syncthreads();
    }
    if (i < n)
        u[i] = s[t];
}

// run: block=256 grid=8 u=float[n] n=2000
// decides: CP304
__global__ void smooth_two_steps_shared(float *u, int n)
{
    __shared__ float s[1024];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? u[i] : 0.f;
    __syncthreads();
    for (int sweep = 0; sweep < 4; ++sweep) {
        float fresh = s[t];
        if (t > 0 && t < blockDim.x - 1)
            fresh = 0.5f * s[t] + 0.25f * (s[t - 1] + s[t + 1]);
        __syncthreads();
        s[t] = fresh;
        __syncthreads();
    }
    if (i < n)
        u[i] = s[t];
}

// Red cells first, then black ones.
// run: block=256 grid=2 u=float[n] n=512
// cudaperf: block=256
// decides: CP304
__global__ void red_black_shared(float *u, int n)
{
    __shared__ float s[258];
    int t = threadIdx.x + 1, i = blockIdx.x * 256 + threadIdx.x;
    s[t] = u[i];
    if (threadIdx.x == 0) {
        s[0] = 0.f;
        s[257] = 0.f;
    }
    __syncthreads();
    for (int k = 0; k < 8; ++k) {
        if (t % 2 == 0)
            s[t] = 0.5f * (s[t - 1] + s[t + 1]);
        __syncthreads();
        if (t % 2 == 1)
            s[t] = 0.5f * (s[t - 1] + s[t + 1]);
        __syncthreads();
    }
    u[i] = s[t];
}

// run: block=256 grid=2 u=float[n] n=512
// cudaperf: block=256
__global__ void red_black_one_barrier(float *u, int n)
{
    __shared__ float s[258];
    int t = threadIdx.x + 1, i = blockIdx.x * 256 + threadIdx.x;
    s[t] = u[i];
    if (threadIdx.x == 0) {
        s[0] = 0.f;
        s[257] = 0.f;
    }
    __syncthreads();
    for (int k = 0; k < 8; ++k) {
        if (t % 2 == 0)
            s[t] = 0.5f * (s[t - 1] + s[t + 1]); // also: CP302; CP303
        if (t % 2 == 1)
            s[t] = 0.5f * (s[t - 1] + s[t + 1]); // expect: CP302@s // also: CP303
        __syncthreads();
    }
    u[i] = s[t];
}

// Planes of a volume, the middle one in shared memory as z advances.
// run: block=32x8 grid=2x4 u=float[nx*ny*nz] out=float[nx*ny*nz] nx=64 ny=32 nz=12
// decides: CP105 CP201 CP202 CP203 CP304
__global__ void laplace_by_planes(const float *__restrict__ u, float *__restrict__ out, int nx, int ny, int nz)
{
    __shared__ float plane[TY][TX];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TX + tx, y = blockIdx.y * TY + ty;
    int stride = nx * ny, at = y * nx + x;
    float below = u[at], here = u[at + stride];
    for (int z = 1; z < nz - 1; ++z) {
        at += stride;
        float above = u[at + stride];
        __syncthreads();
        plane[ty][tx] = here;
        __syncthreads();
        float west = tx > 0 ? plane[ty][tx - 1] : 0.f;
        float east = tx < TX - 1 ? plane[ty][tx + 1] : 0.f;
        float south = ty > 0 ? plane[ty - 1][tx] : 0.f;
        float north = ty < TY - 1 ? plane[ty + 1][tx] : 0.f;
        out[at] = west + east + south + north + below + above - 6.f * here;
        below = here;
        here = above;
    }
}

// One of the two barriers a plane.
// run: block=32x8 grid=2x4 u=float[nx*ny*nz] out=float[nx*ny*nz] nx=64 ny=32 nz=12
__global__ void laplace_by_planes_racing(const float *__restrict__ u, float *__restrict__ out, int nx, int ny, int nz)
{
    __shared__ float plane[TY][TX];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TX + tx, y = blockIdx.y * TY + ty;
    int stride = nx * ny, at = y * nx + x;
    for (int z = 0; z < nz; ++z) {
        plane[ty][tx] = u[at + z * stride]; // also: CP302
        __syncthreads();
        float south = ty > 0 ? plane[ty - 1][tx] : 0.f; // also: CP302
        float north = ty < TY - 1 ? plane[ty + 1][tx] : 0.f; // expect: CP302@plane
        out[at + z * stride] = 0.5f * (south + north);
    }
}

void laplace(const float *u, float *out, int nx, int ny, int nz)
{
    dim3 block(TX, TY), grid(nx / TX, ny / TY);
    laplace_by_planes<<<grid, block>>>(u, out, nx, ny, nz);
    laplace_by_planes_racing<<<grid, block>>>(u, out, nx, ny, nz);
}

// The field in z order, a thread a column: neighbours in x lie ny*nz apart.
// run: block=32x4 grid=2x8 u=float[nx*ny*nz] flux=float[nx*ny*nz] nx=64 ny=32 nz=12
// cudaperf: block=32x4
// decides: CP104
__global__ void vertical_flux(const float *u, float *flux, int nx, int ny, int nz)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    for (int z = 1; z < nz; ++z)
        flux[(x * ny + y) * nz + z] = u[(x * ny + y) * nz + z] - u[(x * ny + y) * nz + z - 1]; // expect: CP101 sectors=32
}
