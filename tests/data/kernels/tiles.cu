// Shared tiles: padding, column reads, swizzles, vector widths.
#include <cuda_runtime.h>

#define TILE_DIM 32
#define BLOCK_ROWS 8

// run: block=32x8 grid=8x8 odata=float[width*width] idata=float[width*width] width=256
__global__ void transpose_conflicts(float *odata, const float *idata, int width)
{
    __shared__ float tile[TILE_DIM][TILE_DIM];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j]; // expect: CP102@tile degree=32
}

// run: block=32x8 grid=8x8 odata=float[width*width] idata=float[width*width] width=256
__global__ void transpose_padded(float *odata, const float *idata, int width)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}

void transpose_both(float *odata, const float *idata, int width)
{
    dim3 block(TILE_DIM, BLOCK_ROWS);
    dim3 grid(width / TILE_DIM, width / TILE_DIM);
    transpose_conflicts<<<grid, block>>>(odata, idata, width);
    transpose_padded<<<grid, block>>>(odata, idata, width);
}

// run: block=32x32 grid=4x4 out=float[n*n] in=float[n*n] n=128
// cudaperf: block=32x32
__global__ void transpose_swizzled(float *out, const float *in, int n)
{
    __shared__ float tile[32][32];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[r * n + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x;
    r = blockIdx.x * 32 + threadIdx.y;
    out[r * n + c] = tile[threadIdx.x][threadIdx.y ^ threadIdx.x];
}

// run: block=16x16 grid=8x8 out=float[n*n] in=float[n*n] n=128
// cudaperf: block=16x16
__global__ void transpose_sixteen(float *out, const float *in, int n)
{
    __shared__ float block[16][16];
    int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    block[threadIdx.y][threadIdx.x] = in[r * n + c];
    __syncthreads();
    c = blockIdx.y * 16 + threadIdx.x;
    r = blockIdx.x * 16 + threadIdx.y;
    out[r * n + c] = block[threadIdx.x][threadIdx.y]; // expect: CP102@block degree=8
}

// run: block=16x16 grid=8x8 out=float[n*n] in=float[n*n] n=128
// cudaperf: block=16x16
__global__ void transpose_sixteen_padded(float *out, const float *in, int n)
{
    __shared__ float block[16][17];
    int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    block[threadIdx.y][threadIdx.x] = in[r * n + c]; // also: CP102
    __syncthreads();
    c = blockIdx.y * 16 + threadIdx.x;
    r = blockIdx.x * 16 + threadIdx.y;
    out[r * n + c] = block[threadIdx.x][threadIdx.y]; // also: CP102
}

// The barrier is missing: columns are read before the other warps have written them.
// run: block=32x8 grid=8x8 odata=float[width*width] idata=float[width*width] width=256
// cudaperf: block=32x8
__global__ void transpose_no_barrier(float *odata, const float *idata, int width)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x]; // also: CP302
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j]; // expect: CP302@tile
}

template <int TILE>
__device__ void stage(float (*tile)[TILE + 1], const float *in, int n)
{
    tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * TILE + threadIdx.y) * n + blockIdx.x * TILE + threadIdx.x];
}

// run: as=mirror_tile<32> block=32x32 grid=4x4 out=float[n*n] in=float[n*n] n=128
// decides: CP201 CP202 CP203
template <int TILE>
__global__ void mirror_tile(float *out, const float *in, int n)
{
    __shared__ float tile[TILE][TILE + 1];
    stage<TILE>(tile, in, n);
    __syncthreads();
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    out[row * n + col] = tile[TILE - 1 - threadIdx.y][TILE - 1 - threadIdx.x];
}

void mirror(float *out, const float *in, int n)
{
    mirror_tile<32><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(out, in, n);
}

// run: block=128 grid=8 in=float[n] out=float[n] n=1024
// cudaperf: block=128
__global__ void spread_by_row(const float *in, float *out, int n)
{
    __shared__ float row[128 * 16];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float seed = i < n ? in[i] : 0.f;
    for (int k = 0; k < 16; k++)
        row[t * 16 + k] = seed * k; // expect: CP102@row degree=16
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < 16; k++)
        sum += row[k * 128 + t];
    if (i < n)
        out[i] = sum;
}

// run: block=128 grid=8 in=float[n] out=float[n] n=1024
// cudaperf: block=128
__global__ void spread_by_odd_row(const float *in, float *out, int n)
{
    __shared__ float row[128 * 17];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float seed = i < n ? in[i] : 0.f;
    for (int k = 0; k < 16; k++)
        row[t * 17 + k] = seed * k;
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < 16; k++)
        sum += row[k * 128 + t];
    if (i < n)
        out[i] = sum;
}

// 64- and 128-bit accesses in a row take two and four wavefronts, which is what they need.
// run: block=128 grid=2 in=double[n] out=double[n] n=256
__global__ void reverse_doubles(const double *in, double *out, int n)
{
    __shared__ double buffer[1024];
    int t = threadIdx.x, base = blockIdx.x * blockDim.x;
    if (base + t < n)
        buffer[t] = in[base + t];
    __syncthreads();
    if (base + t < n)
        out[base + t] = buffer[blockDim.x - 1 - t];
}

// run: block=128 grid=2 in=float4[n] out=float4[n] n=256
__global__ void rotate_float4(const float4 *in, float4 *out, int n)
{
    __shared__ float4 quad[1024];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i < n)
        quad[t] = in[i];
    __syncthreads();
    if (i < n)
        out[i] = quad[(t + 1) % blockDim.x];
}
