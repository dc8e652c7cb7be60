// Matrix products with tiles in shared memory.
#include <cuda_runtime.h>

#define BS 16

// run: block=16x16 grid=8x8 A=float[n*n] B=float[n*n] C=float[n*n] n=128
// decides: CP104
__global__ void matmul_untiled(const float *A, const float *B, float *C, int n)
{
    int col = blockIdx.x * BS + threadIdx.x;
    int row = blockIdx.y * BS + threadIdx.y;
    if (row >= n || col >= n)
        return;
    float acc = 0.f;
    for (int k = 0; k < n; ++k)
        acc += A[row * n + k] * B[k * n + col];
    C[row * n + col] = acc;
}

// x runs down the rows: every access of A and C is a column.
// run: block=16x16 grid=8x8 A=float[n*n] B=float[n*n] C=float[n*n] n=128
__global__ void matmul_untiled_swapped(const float *A, const float *B, float *C, int n)
{
    int row = blockIdx.x * BS + threadIdx.x;
    int col = blockIdx.y * BS + threadIdx.y;
    if (row >= n || col >= n)
        return;
    float acc = 0.f;
    for (int k = 0; k < n; ++k) {
        float a = A[row * n + k]; // expect: CP101@A sectors=16
        float b = B[k * n + col];
        acc += a * b;
    }
    C[row * n + col] = acc; // expect: CP101@C sectors=16
}

// run: block=16x16 grid=8x8 A=float[n*n] B=float[n*n] C=float[n*n] n=128
// decides: CP104 CP201 CP202 CP203 CP304
__global__ void matmul_tiled(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[BS][BS];
    __shared__ float Bs[BS][BS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * BS + tx, row = blockIdx.y * BS + ty;
    float acc = 0.f;
    for (int m = 0; m < (n + BS - 1) / BS; ++m) {
        As[ty][tx] = row < n && m * BS + tx < n ? A[row * n + m * BS + tx] : 0.f;
        Bs[ty][tx] = col < n && m * BS + ty < n ? B[(m * BS + ty) * n + col] : 0.f;
        __syncthreads();
        for (int k = 0; k < BS; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < n && col < n)
        C[row * n + col] = acc;
}

// run: block=16x16 grid=8x8 A=float[n*n] B=float[n*n] C=float[n*n] n=128
__global__ void matmul_first_barrier_missing(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[BS][BS];
    __shared__ float Bs[BS][BS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * BS + tx, row = blockIdx.y * BS + ty;
    float acc = 0.f;
    for (int m = 0; m < n / BS; ++m) {
        As[ty][tx] = A[row * n + m * BS + tx]; // also: CP302; CP303
        Bs[ty][tx] = B[(m * BS + ty) * n + col]; // also: CP302
        for (int k = 0; k < BS; ++k)
            acc += As[ty][k] * Bs[k][tx]; // expect: CP302@Bs
        __syncthreads();
    }
    C[row * n + col] = acc;
}

// The next tile overwrites the one that slower warps still multiply.
// run: block=16x16 grid=8x8 A=float[n*n] B=float[n*n] C=float[n*n] n=128
__global__ void matmul_second_barrier_missing(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[BS][BS];
    __shared__ float Bs[BS][BS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * BS + tx, row = blockIdx.y * BS + ty;
    float acc = 0.f;
    for (int m = 0; m < n / BS; ++m) {
        As[ty][tx] = A[row * n + m * BS + tx]; // also: CP302; CP303
        Bs[ty][tx] = B[(m * BS + ty) * n + col]; // also: CP302
        __syncthreads();
        for (int k = 0; k < BS; ++k)
            acc += As[ty][k] * Bs[k][tx]; // expect: CP302@Bs
    }
    C[row * n + col] = acc;
}

// Threads outside the matrix skip the loop, barriers and all.
// run: block=16x16 grid=7x7 A=float[n*n] B=float[n*n] C=float[n*n] n=100
__global__ void matmul_barrier_inside_check(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[BS][BS];
    __shared__ float Bs[BS][BS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * BS + tx, row = blockIdx.y * BS + ty;
    if (row < n && col < n) {
        float acc = 0.f;
        for (int m = 0; m < (n + BS - 1) / BS; ++m) {
            As[ty][tx] = m * BS + tx < n ? A[row * n + m * BS + tx] : 0.f; // also: CP302
            Bs[ty][tx] = m * BS + ty < n ? B[(m * BS + ty) * n + col] : 0.f; // also: CP302
            __syncthreads(); // expect: CP301
            for (int k = 0; k < BS; ++k)
                acc += As[ty][k] * Bs[k][tx]; // also: CP302
            __syncthreads(); // also: CP301
        }
        C[row * n + col] = acc;
    }
}

void multiply(const float *A, const float *B, float *C, int n)
{
    dim3 threads(BS, BS);
    dim3 grid((n + BS - 1) / BS, (n + BS - 1) / BS);
    matmul_untiled<<<grid, threads>>>(A, B, C, n);
    matmul_untiled_swapped<<<grid, threads>>>(A, B, C, n);
    matmul_tiled<<<grid, threads>>>(A, B, C, n);
    matmul_first_barrier_missing<<<grid, threads>>>(A, B, C, n);
    matmul_second_barrier_missing<<<grid, threads>>>(A, B, C, n);
    matmul_barrier_inside_check<<<grid, threads>>>(A, B, C, n);
}

// B by its transpose, staged without turning it: columns of a tile.
// run: block=32x8 grid=4x16 A=float[n*n] Bt=float[n*n] C=float[n*n] n=128
// cudaperf: block=32x8
__global__ void matmul_abt_conflicts(const float *A, const float *Bt, float *C, int n)
{
    __shared__ float tile[32][32];
    int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
    float acc = 0.f;
    for (int k0 = 0; k0 < n; k0 += 32) {
        for (int r = threadIdx.y; r < 32; r += 8)
            tile[r][threadIdx.x] = Bt[(blockIdx.x * 32 + r) * n + k0 + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 32; ++k)
            acc += A[i * n + k0 + k] * tile[threadIdx.x][k]; // expect: CP102@tile degree=32
        __syncthreads();
    }
    C[i * n + j] = acc;
}

// run: block=32x8 grid=4x16 A=float[n*n] Bt=float[n*n] C=float[n*n] n=128
// cudaperf: block=32x8
// decides: CP304
__global__ void matmul_abt_padded(const float *A, const float *Bt, float *C, int n)
{
    __shared__ float tile[32][33];
    int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
    float acc = 0.f;
    for (int k0 = 0; k0 < n; k0 += 32) {
        for (int r = threadIdx.y; r < 32; r += 8)
            tile[r][threadIdx.x] = Bt[(blockIdx.x * 32 + r) * n + k0 + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 32; ++k)
            acc += A[i * n + k0 + k] * tile[threadIdx.x][k];
        __syncthreads();
    }
    C[i * n + j] = acc;
}

// Four results a thread.
// run: as=matmul_strips<32> block=32x8 grid=4x4 A=double[n*n] B=double[n*n] C=double[n*n] n=128
// decides: CP105 CP204 CP304
template <int T>
__global__ void matmul_strips(const double *__restrict__ A, const double *__restrict__ B, double *__restrict__ C, int n)
{
    __shared__ double a[T][T], b[T][T];
    double acc[4] = {0.0, 0.0, 0.0, 0.0};
    const int x = threadIdx.x, y = threadIdx.y;
    for (int k0 = 0; k0 < n; k0 += T) {
#pragma unroll
        for (int s = 0; s < 4; ++s) {
            a[y + 8 * s][x] = A[(blockIdx.y * T + y + 8 * s) * n + k0 + x];
            b[y + 8 * s][x] = B[(k0 + y + 8 * s) * n + blockIdx.x * T + x];
        }
        __syncthreads();
        for (int k = 0; k < T; ++k)
#pragma unroll
            for (int s = 0; s < 4; ++s)
                acc[s] += a[y + 8 * s][k] * b[k][x];
        __syncthreads();
    }
#pragma unroll
    for (int s = 0; s < 4; ++s)
        C[(blockIdx.y * T + y + 8 * s) * n + blockIdx.x * T + x] = acc[s];
}

void multiply_double(const double *A, const double *B, double *C, int n)
{
    matmul_strips<32><<<dim3(n / 32, n / 32), dim3(32, 8)>>>(A, B, C, n);
}

// The next tile is fetched while this one is multiplied; one barrier a step is enough.
// run: block=16x16 grid=8x8 A=float[n*n] B=float[n*n] C=float[n*n] n=128
// cudaperf: block=16x16
// decides: CP304
__global__ void matmul_two_stages(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[2][BS][BS];
    __shared__ float Bs[2][BS][BS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * BS + tx, row = blockIdx.y * BS + ty;
    int stage = 0;
    As[0][ty][tx] = A[row * n + tx];
    Bs[0][ty][tx] = B[ty * n + col];
    __syncthreads();
    float acc = 0.f;
    for (int m = 0; m < n / BS; ++m) {
        int next = stage ^ 1;
        if (m + 1 < n / BS) {
            As[next][ty][tx] = A[row * n + (m + 1) * BS + tx];
            Bs[next][ty][tx] = B[((m + 1) * BS + ty) * n + col];
        }
        for (int k = 0; k < BS; ++k)
            acc += As[stage][ty][k] * Bs[stage][k][tx];
        __syncthreads();
        stage = next;
    }
    C[row * n + col] = acc;
}

// The stage that is read is the one that is filled.
// run: block=16x16 grid=8x8 A=float[n*n] B=float[n*n] C=float[n*n] n=128
// cudaperf: block=16x16
__global__ void matmul_wrong_stage(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[2][BS][BS];
    __shared__ float Bs[2][BS][BS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * BS + tx, row = blockIdx.y * BS + ty;
    float acc = 0.f;
    for (int m = 0; m < n / BS; ++m) {
        int stage = m & 1;
        As[stage][ty][tx] = A[row * n + m * BS + tx]; // also: CP302; CP303
        Bs[stage][ty][tx] = B[(m * BS + ty) * n + col]; // also: CP302
        for (int k = 0; k < BS; ++k)
            acc += As[stage][ty][k] * Bs[stage][k][tx]; // expect: CP302@Bs
        __syncthreads();
    }
    C[row * n + col] = acc;
}
