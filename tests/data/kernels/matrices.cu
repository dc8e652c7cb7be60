// Matrices in flat arrays, the pitch known at run time.
#include <cuda_runtime.h>

#define IDX2C(i, j, ld) (((j) * (ld)) + (i))
#define AT(m, r, c, pitch) m[(r) * (pitch) + (c)]

// run: block=32x8 grid=16x32 a=float[rows*cols] b=float[rows*cols] c=float[rows*cols] rows=250 cols=500
// cudaperf: block=32x8
// decides: CP103
__global__ void matrix_add(const float *a, const float *b, float *c, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols)
        c[row * cols + col] = a[row * cols + col] + b[row * cols + col];
}

// run: block=32x8 grid=8x64 a=float[rows*cols] b=float[rows*cols] rows=250 cols=500
// cudaperf: block=32x8
__global__ void matrix_square_swapped(const float *a, float *b, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        float v = a[row * cols + col]; // expect: CP101@a sectors=32
        b[row * cols + col] = v * v; // expect: CP101@b sectors=32
    }
}

// run: block=16x16 grid=16x16 in=float[n*n] out=float[n*n] n=256
__global__ void naive_transpose(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n)
        out[x * n + y] = in[y * n + x]; // expect: CP101@out sectors=16
}

void transpose_on_device(const float *in, float *out, int n)
{
    dim3 block(16, 16);
    dim3 grid((n + 15) / 16, (n + 15) / 16);
    naive_transpose<<<grid, block>>>(in, out, n);
}

// One thread a row, as in a first port from the host.
// run: block=128 grid=4 a=float[m*n] x=float[n] y=float[m] m=500 n=300
// decides: CP104
__global__ void gemv_row_per_thread(const float *a, const float *x, float *y, int m, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m)
        return;
    float dot = 0.f;
    for (int j = 0; j < n; ++j)
        dot += a[row * n + j] * x[j]; // expect: CP101@a sectors=32
    y[row] = dot;
}

// Column-major: the same loop is coalesced.
// run: block=128 grid=4 a=float[m*n] x=float[n] y=float[m] m=500 n=300
__global__ void gemv_column_major(const float *a, const float *x, float *y, int m, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    float dot = 0.f;
    for (int j = 0; j < n; ++j)
        dot += a[IDX2C(i, j, m)] * x[j];
    y[i] = dot;
}

void gemv(const float *a, const float *x, float *y, int m, int n)
{
    gemv_column_major<<<(m + 127) / 128, 128>>>(a, x, y, m, n);
}

// run: block=256 grid=40 a=float[rows*cols] sums=float[cols] rows=64 cols=10000
// decides: CP104
__global__ void column_sums(const float *a, float *sums, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < cols) {
        float s = 0.f;
        for (int r = 0; r < rows; r++)
            s += AT(a, r, c, cols);
        sums[c] = s;
    }
}

// run: block=256 grid=2 a=float[rows*cols] sums=float[rows] rows=500 cols=100
__global__ void row_sums_by_macro(const float *a, float *sums, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float s = 0.f;
        for (int c = 0; c < cols; c++)
            s += AT(a, r, c, cols); // expect: CP101@a sectors=32
        sums[r] = s;
    }
}

// A warp takes a row: lanes along it.
// run: block=128 grid=125 a=float[rows*cols] norm=float[rows] rows=500 cols=100
// decides: CP104 CP105
__global__ void row_norm_by_warp(const float *__restrict__ a, float *__restrict__ norm, int rows, int cols)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (warp >= rows)
        return;
    const float *row = a + (size_t)warp * cols;
    float sum = 0.f;
    for (int c = lane; c < cols; c += 32)
        sum += row[c] * row[c];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0)
        norm[warp] = sqrtf(sum);
}

// run: block=32x4x2 grid=2x8x8 field=float[nx*ny*nz] out=float[nx*ny*nz] nx=60 ny=32 nz=16
// cudaperf: block=32x4x2
__global__ void volume_threshold(const float *field, float *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < nx && y < ny && z < nz) {
        size_t at = ((size_t)z * ny + y) * nx + x;
        out[at] = field[at] > 0.5f ? field[at] : 0.0f;
    }
}

// run: block=32x4x2 grid=1x8x32 field=float[nx*ny*nz] out=float[nx*ny*nz] nx=60 ny=32 nz=24
// cudaperf: block=32x4x2
__global__ void volume_threshold_z_first(const float *field, float *out, int nx, int ny, int nz)
{
    int z = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int x = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < nx && y < ny && z < nz) {
        const int at = (z * ny + y) * nx + x;
        out[at] = fmaxf(field[at], 0.5f); // expect: CP101@out sectors=32; CP101@field sectors=32
    }
}

// run: block=64x4 grid=8x64 image=float[height*pitch] out=float[height*pitch] width=500 height=250 pitch=512
// decides: CP201 CP202 CP203
__global__ void brighten_pitched(const float *image, float *out, int width, int height, int pitch)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float *line = image + y * pitch;
    float *target = &out[y * pitch];
    target[x] = fminf(1.0f, line[x] * 1.25f);
}

void brighten(const float *image, float *out, int width, int height, int pitch)
{
    dim3 threads(64, 4);
    dim3 blocks((width + 63) / 64, (height + 3) / 4);
    brighten_pitched<<<blocks, threads>>>(image, out, width, height, pitch);
}

// run: block=256 grid=8 lu=double[n*n] k=3 n=1000
__global__ void lu_scale_column(double *lu, int k, int n)
{
    int i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        lu[i * n + k] /= lu[k * n + k]; // expect: CP101@lu sectors=32
}
