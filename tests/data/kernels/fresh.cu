// Loads in loops that must be done again, or that the compiler keeps by itself.
#include <cuda_runtime.h>

// The factor is promised to be nobody else's.
// run: block=128 grid=20 in=float[20*cols] gain=float[20] out=float[20*cols] cols=300
// decides: CP104
__global__ void scale_each_row_restrict(const float *__restrict__ in, const float *__restrict__ gain, float *__restrict__ out, int cols)
{
    int row = blockIdx.x;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[row * cols + c] = gain[row] * in[row * cols + c];
}

// run: block=128 grid=4 start=int[rows+1]:offsets(nnz) key=int[nnz] out=int[nnz] rows=500 nnz=4000
// decides: CP104
__global__ void shift_keys_with_end(const int *start, const int *key, int *out, int rows, int nnz)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    int end = start[r + 1];
    for (int k = start[r]; k < end; ++k)
        out[k] = key[k] - r; // silent: CP101
}

// Nothing is written before the loop ends.
// run: block=128 grid=4 weight=float[4] x=float[n*16] out=float[n] n=500
// decides: CP104
__global__ void weighted_levels(const float *weight, const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.f;
    for (int k = 0; k < 16; ++k)
        sum += weight[1] * x[k * n + i] + weight[3];
    out[i] = sum;
}

void levels(const float *weight, const float *x, float *out, int n)
{
    weighted_levels<<<(n + 127) / 128, 128>>>(weight, x, out, n);
}

// Only shared memory is written in the loop, which no pointer of the kernel leads to.
// run: block=128 grid=4 shift=float[4] in=float[2048] out=float[512]
// cudaperf: block=128
// decides: CP104
__global__ void stage_shifted(const float *shift, const float *in, float *out)
{
    __shared__ float stage[512];
    int t = threadIdx.x;
    for (int k = 0; k < 4; ++k)
        stage[k * 128 + t] = in[blockIdx.x * 512 + k * 128 + t] - shift[blockIdx.x];
    __syncthreads();
    out[blockIdx.x * 128 + t] = stage[511 - t] + stage[t];
}

// The loop writes the elements that it reads first: the recurrence goes through memory.
// run: block=64 grid=4 u=float[n*32] n=256
// decides: CP104
__global__ void relax_columns(float *u, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 1; k < 32; ++k)
        u[k * n + i] = 0.5f * (u[(k - 1) * n + i] + u[i]);
}

// The flag is volatile: another block may set it.
// run: block=128 grid=4 stop=int[1]:zero x=float[n] n=2000
// decides: CP104
__global__ void until_stopped(const volatile int *stop, float *x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (*stop)
            break;
        x[i] = 2.f * x[i];
    }
}

void until(const volatile int *stop, float *x, int n)
{
    until_stopped<<<256, 128>>>(stop, x, n);
}

// Every load is of another row.
// run: block=128 grid=4 table=float[40*n] pick=int[16]:below(40) out=float[16*n] n=500
// decides: CP104
__global__ void rows_by_list(const float *table, const int *pick, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < 16; ++k) {
        int row = pick[k];
        out[k * n + i] = table[row * n + i];
    }
}

// What is written is restrict, so nothing else changes by it.
// run: block=64 grid=4 scale=float[2] in=float[n] out=float[n] n=2000
// cudaperf: block=64
// decides: CP104
__global__ void scale_into_restrict(const float *scale, const float *in, float *__restrict__ out, int n)
{
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64)
        out[i] = scale[1] * in[i];
}

// Loaded before the loop, by hand.
// run: block=256 grid=2 poly=float[3] x=float[n] y=float[n] n=2000
// decides: CP104
__global__ void evaluate_squares(const float *poly, const float *x, float *y, int n)
{
    const float a = poly[2], b = poly[1], c = poly[0];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        y[i] = (a * v + b) * v + c;
    }
}

void quadratics(const float *poly, const float *x, float *y, int n)
{
    evaluate_squares<<<1024, 256>>>(poly, x, y, n);
}

// The place moves with the list, link by link.
// run: block=64 grid=4 next=int[n]:below(n) value=float[n] out=float[8*256] n=256
// cudaperf: block=64
// decides: CP104
__global__ void follow_links(const int *next, const float *value, float *out, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x, at = i % n;
    for (int k = 0; k < 8; ++k) {
        out[k * 256 + i] = value[at]; // silent: CP101
        at = next[at]; // silent: CP101
    }
}

// No loop.
// run: block=128 grid=4 in=float[n] bias=float[1] out=float[n] n=500
// decides: CP104
__global__ void no_loop_at_all(const float *in, const float *bias, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + bias[0];
}
