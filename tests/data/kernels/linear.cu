// Steps of factorizations, triangular solves and small linear algebra.
#include <cuda_runtime.h>

// run: block=16x16 grid=8x8 a=double[n*n] k=5 n=128
// cudaperf: block=16x16
__global__ void eliminate_trailing(double *a, int k, int n)
{
    int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    int i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
}

// run: block=32x8 grid=4x16 a=double[n*n] k=5 n=128
// cudaperf: block=32x8
__global__ void eliminate_trailing_swapped(double *a, int k, int n)
{
    int i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    int j = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n)
        a[i * n + j] -= a[i * n + k] * a[k * n + j]; // expect: CP101@a sectors=32
}

// A small system in shared memory; the column of step k is done before k + 1.
// run: block=32 grid=8 l=float[32*32] b=float[8*32] x=float[8*32]
// decides: CP104 CP105 CP201 CP202 CP203 CP304
__global__ void forward_substitution(const float *l, const float *b, float *x) // expect: CP105@l; CP105@b
{
    __shared__ float y[32];
    int t = threadIdx.x;
    float mine = b[blockIdx.x * 32 + t];
    for (int k = 0; k < 32; ++k) {
        if (t == k)
            y[k] = mine / (l[k * 32 + k] + 1.f);
        __syncthreads();
        if (t > k)
            mine -= l[t + 32 * k] * y[k];
        __syncthreads(); // expect: CP304
    }
    x[blockIdx.x * 32 + t] = y[t];
}

// run: block=64 grid=8 l=float[64*64] b=float[8*64] x=float[8*64]
__global__ void forward_substitution_racing(const float *l, const float *b, float *x)
{
    __shared__ float y[64];
    int t = threadIdx.x;
    float mine = b[blockIdx.x * 64 + t];
    for (int k = 0; k < 64; ++k) {
        if (t == k)
            y[k] = mine / (l[k * 64 + k] + 1.f); // also: CP302
        if (t > k)
            mine -= l[t + 64 * k] * y[k]; // expect: CP302@y
    }
    x[blockIdx.x * 64 + t] = y[t];
}

void solve(const float *l, const float *b, float *x, int systems)
{
    forward_substitution<<<systems, 32>>>(l, b, x);
    forward_substitution_racing<<<systems, 64>>>(l, b, x);
}

// One thread skips the rest of the step, barrier and all.
// run: block=64 grid=8 l=float[64*64] b=float[8*64] x=float[8*64]
// cudaperf: block=64
__global__ void substitution_continue(const float *l, const float *b, float *x)
{
    __shared__ float y[64];
    int t = threadIdx.x;
    float mine = b[blockIdx.x * 64 + t];
    for (int k = 0; k < 64; ++k) {
        if (t == k)
            y[k] = mine; // also: CP302
        if (t < k)
            continue;
        __syncthreads(); // expect: CP301
        mine -= l[64 * k + t] * y[k]; // also: CP302
    }
    __syncthreads(); // also: CP301
    x[blockIdx.x * 64 + t] = y[63 - t]; // also: CP302
}

// The triangle only: threads right of the diagonal have nothing to do.
// run: block=32x8 grid=4x16 a=float[n*n] t=float[n*n] n=128
// cudaperf: block=32x8
// decides: CP105
__global__ void copy_lower(const float *a, float *t, int n) // expect: CP105@a
{
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    if (r >= n || c > r)
        return;
    t[r * n + c] = a[r * n + c];
}

// Mirrors the lower triangle into the upper one, an element at a time.
// run: block=32x8 grid=4x16 a=float[n*n] n=128
// cudaperf: block=32x8
// decides: CP105
__global__ void symmetrize(float *a, int n)
{
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    if (r < n && c < r)
        a[c * n + r] = a[r * n + c]; // expect: CP101@a sectors=32
}

// run: block=256 grid=1 v=double[n] norm=double[1] n=256
// cudaperf: block=256
// decides: CP304
__global__ void householder_norm(const double *v, double *norm, int n)
{
    __shared__ double s[256];
    int t = threadIdx.x;
    s[t] = t < n ? v[t] * v[t] : 0.0;
    __syncthreads();
    for (int h = 128; h > 0; h >>= 1) {
        if (t < h)
            s[t] += s[t + h];
        __syncthreads();
    }
    if (t == 0)
        norm[0] = sqrt(s[0]);
}

// BLAS-like: the increment is a parameter and mostly one.
// run: block=128 grid=8 n=1000 a=2.0 x=float[n] incx=1 y=float[n] incy=1
// decides: CP103 CP105
__global__ void axpy_increments(int n, float a, const float *x, int incx, float *y, int incy) // expect: CP105@x
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i * incy] += a * x[i * incx]; // also: CP101
}

// Batches of 4x4 matrices, one a thread.
// run: block=128 grid=4 m=float[16*n] trace=float[n] n=500
// decides: CP104
__global__ void batch_trace(const float *m, float *trace, int n)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= n)
        return;
    float sum = 0.f;
    for (int d = 0; d < 4; ++d)
        sum += m[b * 16 + d * 5]; // expect: CP101@m sectors=32
    trace[b] = sum;
}

// The batch is the fastest index.
// run: block=128 grid=4 m=float[16*n] trace=float[n] n=500
__global__ void batch_trace_interleaved(const float *m, float *trace, int n)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= n)
        return;
    float sum = 0.f;
    for (int d = 0; d < 4; ++d)
        sum += m[(d * 5) * n + b];
    trace[b] = sum;
}

// Pivot: the largest of a column by shuffles.
// run: block=32 grid=1 a=float[n*n] k=3 row=int[1] n=32
// decides: CP201 CP202 CP203
__global__ void find_pivot(const float *a, int k, int *row, int n)
{
    int r = threadIdx.x;
    float best = r >= k && r < n ? fabsf(a[k * n + r]) : -1.f;
    int at = r;
    for (int m = 16; m > 0; m >>= 1) {
        float other = __shfl_xor_sync(0xffffffffu, best, m);
        int where = __shfl_xor_sync(0xffffffffu, at, m);
        if (other > best || (other == best && where < at)) {
            best = other;
            at = where;
        }
    }
    if (r == 0)
        *row = at;
}

void pivot(const float *a, int k, int *row, int n)
{
    find_pivot<<<1, 32>>>(a, k, row, n);
}
