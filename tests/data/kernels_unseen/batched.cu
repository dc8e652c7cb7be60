// Many small matrices, quaternions, unions, and shared memory carved up by hand.
#include <cuda_runtime.h>
#include <stddef.h>

typedef struct { float m[16]; } mat4;
typedef struct __align__(16) { float x, y, z, w; } quat;
typedef union { float f; unsigned u; } bits;

struct Workspace {
    float a[16][16];
    float pivot;
    int row;
};

// A matrix to each thread.
// run: block=64 grid=4 a=float[n*16] x=float4[n] y=float[n] n=250
__global__ void first_row_times(const float *a, const float4 *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = x[i];
    float r = a[i * 16] * v.x; // expect: CP101@a sectors=32
    r += a[i * 16 + 5] * v.y; // expect: CP101@a sectors=32
    r += a[i * 16 + 10] * v.z; // expect: CP101@a sectors=32
    r += a[i * 16 + 15] * v.w; // expect: CP101@a sectors=32
    y[i] = r;
}

// Four lanes to a matrix, a row each.
// run: block=64 grid=16 a=float4[n*4] x=float4[n] y=float[n*4] n=250
__global__ void four_lanes_times(const float4 *a, const float4 *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 4 * n) return;
    float4 r = a[i], v = x[i / 4];
    y[i] = r.x * v.x + r.y * v.y + r.z * v.z + r.w * v.w;
}

// run: block=64 grid=4 m=mat4[n] trace=float[n] n=250
__global__ void trace_of_each(const mat4 *m, float *trace, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const mat4 *p = m + i;
        float sum = 0.f;
#pragma unroll
        for (int k = 0; k < 4; ++k)
            sum += p->m[5 * k]; // expect: CP101 sectors=32
        trace[i] = sum;
    }
}

void small_matrices(const float *a, const float4 *rows, const float4 *x, const mat4 *m, float *y, int n)
{
    first_row_times<<<(n + 63) / 64, 64>>>(a, x, y, n);
    four_lanes_times<<<(4 * n + 63) / 64, 64>>>(rows, x, y, n);
    trace_of_each<<<(n + 63) / 64, 64>>>(m, y, n);
}

// run: block=128 grid=8 q=float4[n] v=float4[n] out=float4[n] n=1000
__global__ void rotate_vectors(const float4 *__restrict__ q, const float4 *__restrict__ v, float4 *__restrict__ out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 r = q[i], p = v[i];
    float3 t = make_float3(2.f * (r.y * p.z - r.z * p.y), 2.f * (r.z * p.x - r.x * p.z), 2.f * (r.x * p.y - r.y * p.x));
    out[i] = make_float4(p.x + r.w * t.x + r.y * t.z - r.z * t.y, p.y + r.w * t.y + r.z * t.x - r.x * t.z,
                         p.z + r.w * t.z + r.x * t.y - r.y * t.x, p.w);
}

// Real parts of neighbours: four words between lanes.
// run: block=128 grid=4 q=float4[512] out=float[512]
// cudaperf: block=128
__global__ void compare_real_parts(const float4 *q, float *out)
{
    __shared__ quat s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    *(float4 *)&s[t] = q[i];
    __syncthreads();
    float other = s[t ^ 1].w; // expect: CP102@s degree=4
    out[i] = other * s[127 - t].w; // expect: CP102@s degree=4
}

// run: block=128 grid=4 q=float4[512] out=float[512]
// cudaperf: block=128
__global__ void compare_real_planes(const float4 *q, float *out)
{
    __shared__ float x[128], y[128], z[128], w[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float4 v = q[i];
    x[t] = v.x, y[t] = v.y, z[t] = v.z, w[t] = v.w;
    __syncthreads();
    out[i] = x[t ^ 1] * x[127 - t] + y[t ^ 1] * y[127 - t] + z[t ^ 1] * z[127 - t] + w[t ^ 1] * w[127 - t];
}

// The signs of floats, gathered by warps.
// run: block=128 grid=8 x=float[n] signs=unsigned[32] n=1000
__global__ void sign_words(const float *x, unsigned *signs, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bits b;
    b.f = i < n ? x[i] - 0.5f : 0.f;
    unsigned word = __ballot_sync(~0u, b.u >> 31);
    if ((threadIdx.x & 31) == 0)
        signs[i >> 5] = word;
}

// Sixteen unknowns, a thread an element; row by row below the pivot.
// run: block=16x16 grid=4 a=float[1024] lower=float[1024]
// cudaperf: block=16x16
__global__ void eliminate(const float *a, float *lower)
{
    __shared__ Workspace s;
    int tx = threadIdx.x, ty = threadIdx.y, at = blockIdx.x * 256 + ty * 16 + tx;
    s.a[ty][tx] = a[at] + (tx == ty ? 16.f : 0.f);
    __syncthreads();
    for (int k = 0; k < 15; ++k) {
        float factor = ty > k ? s.a[ty][k] / s.a[k][k] : 0.f;
        __syncthreads();
        if (ty > k && tx >= k)
            s.a[ty][tx] -= factor * s.a[k][tx];
        __syncthreads();
    }
    lower[at] = s.a[ty][tx];
}

// The factor is taken from a column that other lanes clear in the same step.
// run: block=16x16 grid=4 a=float[1024] lower=float[1024]
// cudaperf: block=16x16
__global__ void eliminate_at_once(const float *a, float *lower)
{
    __shared__ float s[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, at = blockIdx.x * 256 + ty * 16 + tx;
    s[ty][tx] = a[at] + (tx == ty ? 16.f : 0.f);
    __syncthreads();
    for (int k = 0; k < 15; ++k) {
        float factor = ty > k ? s[ty][k] / s[k][k] : 0.f; // also: CP302; CP303
        if (ty > k && tx >= k)
            s[ty][tx] -= factor * s[k][tx]; // expect: CP303/CP302@s
        __syncthreads();
    }
    lower[at] = s[ty][tx];
}

// One thread seeks the pivot; the block divides by whatever is there.
// run: block=64 grid=4 a=float[256] out=float[256]
// cudaperf: block=64
__global__ void divide_by_pivot(const float *a, float *out)
{
    __shared__ float column[64];
    __shared__ float pivot;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    column[t] = a[i] + 1.f;
    __syncthreads();
    if (t == 0) {
        float most = column[0];
        for (int k = 1; k < 64; ++k)
            most = fmaxf(most, column[k]);
        pivot = most; // also: CP302
    }
    out[i] = column[t] / pivot; // expect: CP302@pivot
}

// Rows of sixteen, read down the column by neighbouring lanes.
// run: block=16x16 grid=4 a=float[1024] out=float[1024]
// cudaperf: block=16x16
__global__ void gram_unpadded(const float *a, float *out)
{
    __shared__ float s[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, at = blockIdx.x * 256 + ty * 16 + tx;
    s[ty][tx] = a[at];
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < 16; ++k)
        sum += s[ty][k] * s[tx][k]; // expect: CP102@s degree=8
    out[at] = sum;
}

// run: block=16x16 grid=4 a=float[1024] out=float[1024]
// cudaperf: block=16x16
__global__ void gram_padded(const float *a, float *out)
{
    __shared__ float s[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, at = blockIdx.x * 256 + ty * 16 + tx;
    s[ty][tx] = a[at]; // also: CP102
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < 16; ++k)
        sum += s[ty][k] * s[tx][k];
    out[at] = sum;
}

// A lane keeps a matrix of 4x4 in shared memory, matrix behind matrix.
// run: block=64 grid=2 a=float[2048] det=float[128]
// cudaperf: block=64
__global__ void product_of_diagonals(const float *a, float *det)
{
    __shared__ float s[64 * 16];
    int t = threadIdx.x;
    for (int k = t; k < 1024; k += 64)
        s[k] = a[blockIdx.x * 1024 + k];
    __syncthreads();
    float *mine = &s[t * 16];
    float p = 1.f;
    for (int k = 0; k < 4; ++k)
        p *= mine[5 * k]; // expect: CP102@mine degree=16
    det[blockIdx.x * 64 + t] = p;
}

// With a word of padding behind each matrix.
// run: block=64 grid=2 a=float[2048] det=float[128]
// cudaperf: block=64
__global__ void product_of_padded_diagonals(const float *a, float *det)
{
    __shared__ float s[64 * 17];
    int t = threadIdx.x;
    for (int k = t; k < 1024; k += 64)
        s[k + k / 16] = a[blockIdx.x * 1024 + k]; // also: CP102
    __syncthreads();
    float p = 1.f;
    for (int k = 0; k < 4; ++k)
        p *= s[t * 17 + 5 * k];
    det[blockIdx.x * 64 + t] = p;
}

// A pitch in bytes.
// run: block=128 grid=2 base=float[rows*64] sums=float[64] rows=40 pitch=256
__global__ void pitched_column_sums(const float *base, float *sums, int rows, size_t pitch)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= 64) return;
    float sum = 0.f;
    for (int r = 0; r < rows; ++r) {
        const float *row = (const float *)((const char *)base + r * pitch);
        sum += row[x];
    }
    sums[x] = sum;
}

// Floats first, then as many indices.
// run: block=128 grid=4 shared=1024 value=float[n] where=int[4] n=500
__global__ void index_of_largest(const float *value, int *where, int n)
{
    extern __shared__ unsigned char raw[];
    float *best = (float *)raw;
    int *index = (int *)(raw + blockDim.x * sizeof(float));
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    best[t] = i < n ? value[i] : -1.f;
    index[t] = i;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half && best[t + half] > best[t]) {
            best[t] = best[t + half];
            index[t] = index[t + half];
        }
    }
    if (t == 0)
        where[blockIdx.x] = index[0];
}

// The same without the pause after the last step but one.
// run: block=128 grid=4 shared=1024 value=float[n] where=int[4] n=500
__global__ void index_of_largest_by_last(const float *value, int *where, int n)
{
    extern __shared__ unsigned char raw[];
    float *best = (float *)raw;
    int *index = (int *)(raw + blockDim.x * sizeof(float));
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    best[t] = i < n ? value[i] : -1.f;
    index[t] = i;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half && best[t + half] > best[t]) {
            best[t] = best[t + half];
            index[t] = index[t + half]; // also: CP302
        }
    }
    if (t == blockDim.x - 1)
        where[blockIdx.x] = index[0]; // expect: CP302@index
}

void largest(const float *value, int *where, int n)
{
    size_t bytes = 128 * (sizeof(float) + sizeof(int));
    index_of_largest<<<(n + 127) / 128, 128, bytes>>>(value, where, n);
    index_of_largest_by_last<<<(n + 127) / 128, 128, bytes>>>(value, where, n);
}
