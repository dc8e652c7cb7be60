// Rows: softmax, normalization, sparse products.
#include <cuda_runtime.h>
#include <math.h>

// run: block=128 grid=4 x=float[rows*cols] y=float[rows*cols] rows=500 cols=64
// decides: CP104 CP105
__global__ void softmax_thread_per_row(const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float *src = x + row * cols;
    float *dst = y + row * cols;
    float top = -INFINITY;
    for (int c = 0; c < cols; ++c)
        top = fmaxf(top, src[c]); // expect: CP101@src sectors=32
    float sum = 0.f;
    for (int c = 0; c < cols; ++c)
        sum += expf(src[c] - top); // expect: CP101@src sectors=32
    for (int c = 0; c < cols; ++c)
        dst[c] = expf(src[c] - top) / sum; // expect: CP101@dst sectors=32; CP101@src sectors=32
}

// run: block=128 grid=100 x=float[rows*cols] y=float[rows*cols] rows=100 cols=300
// decides: CP201 CP202 CP203 CP304
__global__ void softmax_block_per_row(const float *x, float *y, int rows, int cols)
{
    __shared__ float scratch[128];
    const float *src = x + blockIdx.x * cols;
    int t = threadIdx.x;
    float top = -INFINITY;
    for (int c = t; c < cols; c += 128)
        top = fmaxf(top, src[c]);
    scratch[t] = top;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s)
            scratch[t] = fmaxf(scratch[t], scratch[t + s]);
        __syncthreads();
    }
    top = scratch[0];
    __syncthreads();
    float sum = 0.f;
    for (int c = t; c < cols; c += 128)
        sum += expf(src[c] - top);
    scratch[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s)
            scratch[t] += scratch[t + s];
        __syncthreads();
    }
    sum = scratch[0];
    for (int c = t; c < cols; c += 128)
        y[blockIdx.x * cols + c] = expf(src[c] - top) / sum;
}

// The maximum is still being read when the sums overwrite it.
// run: block=128 grid=100 x=float[rows*cols] y=float[rows*cols] rows=100 cols=300
__global__ void softmax_reuses_scratch(const float *x, float *y, int rows, int cols)
{
    __shared__ float scratch[128];
    const float *src = x + blockIdx.x * cols;
    int t = threadIdx.x;
    float top = -INFINITY;
    for (int c = t; c < cols; c += 128)
        top = fmaxf(top, src[c]);
    scratch[t] = top;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s)
            scratch[t] = fmaxf(scratch[t], scratch[t + s]);
        __syncthreads();
    }
    top = scratch[0]; // also: CP302
    float sum = 0.f;
    for (int c = t; c < cols; c += 128)
        sum += expf(src[c] - top);
    scratch[t] = sum; // expect: CP302@scratch
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s)
            scratch[t] += scratch[t + s];
        __syncthreads();
    }
    for (int c = t; c < cols; c += 128)
        y[blockIdx.x * cols + c] = expf(src[c] - top) / scratch[0];
}

void softmax(const float *x, float *y, int rows, int cols)
{
    softmax_thread_per_row<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);
    softmax_block_per_row<<<rows, 128>>>(x, y, rows, cols);
    softmax_reuses_scratch<<<rows, 128>>>(x, y, rows, cols);
}

// run: block=32x4 grid=25 x=float[rows*cols] gamma=float[cols] beta=float[cols] y=float[rows*cols] rows=98 cols=256
// cudaperf: block=32x4
// decides: CP104 CP105
__global__ void layernorm_warp_per_row(const float *x, const float *gamma, const float *beta, float *y, int rows, int cols) // expect: CP105@gamma; CP105@beta
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    const float *in = x + (size_t)row * cols;
    float sum = 0.f, squares = 0.f;
    for (int c = threadIdx.x; c < cols; c += warpSize) {
        float v = in[c];
        sum += v;
        squares += v * v;
    }
    for (int m = 16; m > 0; m >>= 1) {
        sum += __shfl_xor_sync(0xffffffff, sum, m);
        squares += __shfl_xor_sync(0xffffffff, squares, m);
    }
    float mean = sum / cols, scale = rsqrtf(squares / cols - mean * mean + 1e-5f);
    float *out = y + (size_t)row * cols;
    for (int c = threadIdx.x; c < cols; c += warpSize)
        out[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
}

// Statistics by thread 0, and nobody waits for it.
// run: block=256 grid=50 x=float[rows*cols] y=float[rows*cols] rows=50 cols=200
__global__ void normalize_unwaited(const float *x, float *y, int rows, int cols)
{
    __shared__ float mean;
    if (threadIdx.x == 0) {
        float sum = 0.f;
        for (int c = 0; c < cols; ++c)
            sum += x[blockIdx.x * cols + c];
        mean = sum / cols; // also: CP302
    }
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        y[blockIdx.x * cols + c] = x[blockIdx.x * cols + c] - mean; // expect: CP302@mean
}

// run: block=256 grid=50 x=float[rows*cols] y=float[rows*cols] rows=50 cols=200
// decides: CP304
__global__ void normalize_waited(const float *x, float *y, int rows, int cols)
{
    __shared__ float mean;
    if (threadIdx.x == 0) {
        float sum = 0.f;
        for (int c = 0; c < cols; ++c)
            sum += x[blockIdx.x * cols + c];
        mean = sum / cols;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        y[blockIdx.x * cols + c] = x[blockIdx.x * cols + c] - mean;
}

// Where a row begins and ends comes from memory, and so does the column.
// run: block=128 grid=8 start=int[rows+1]:offsets(nnz) col=int[nnz]:below(rows) value=float[nnz] x=float[rows] y=float[rows] rows=1000 nnz=8000
// decides: CP104
__global__ void spmv_thread_per_row(const int *start, const int *col, const float *value, const float *x, float *y, int rows, int nnz)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float dot = 0.f;
    for (int k = start[r]; k < start[r + 1]; ++k)
        dot += value[k] * x[col[k]]; // silent: CP101
    y[r] = dot;
}

// run: block=128 grid=250 start=int[rows+1]:offsets(nnz) col=int[nnz]:below(rows) value=float[nnz] x=float[rows] y=float[rows] rows=1000 nnz=8000
__global__ void spmv_warp_per_row(const int *start, const int *col, const float *value, const float *x, float *y, int rows, int nnz)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (r >= rows)
        return;
    float dot = 0.f;
    int end = min(start[r + 1], nnz);
    for (int k = start[r] + lane; k < end; k += 32)
        dot += value[k] * x[col[k]]; // silent: CP101
    for (int o = 16; o; o >>= 1)
        dot += __shfl_down_sync(0xffffffffu, dot, o);
    if (lane == 0)
        y[r] = dot;
}

// Rows padded to one length, column-major, so that threads go side by side.
// run: block=256 grid=4 col=int[rows*width]:below(rows) value=float[rows*width] x=float[rows] y=float[rows] rows=1000 width=12
__global__ void spmv_padded_rows(const int *col, const float *value, const float *x, float *y, int rows, int width)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float dot = 0.f;
        for (int k = 0; k < width; ++k) {
            int at = k * rows + r;
            dot += value[at] * x[col[at]]; // silent: CP101
        }
        y[r] = dot;
    }
}

// The same, row-major.
// run: block=256 grid=4 col=int[rows*width]:below(rows) value=float[rows*width] x=float[rows] y=float[rows] rows=1000 width=12
__global__ void spmv_padded_rows_row_major(const int *col, const float *value, const float *x, float *y, int rows, int width)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float dot = 0.f;
        for (int k = 0; k < width; ++k) {
            float v = value[r * width + k]; // expect: CP101@value sectors=32
            int c = col[r * width + k]; // expect: CP101@col sectors=32
            dot += v * x[c]; // silent: CP101
        }
        y[r] = dot;
    }
}

// Arg-max of each row by its block: value and place move together.
// run: block=64 grid=60 score=float[rows*cols] best=int[rows] rows=60 cols=200
// cudaperf: block=64
// decides: CP304
__global__ void argmax_rows(const float *score, int *best, int rows, int cols)
{
    __shared__ float value[64];
    __shared__ int place[64];
    int t = threadIdx.x;
    value[t] = -INFINITY;
    place[t] = 0;
    for (int c = t; c < cols; c += 64) {
        float s = score[blockIdx.x * cols + c];
        if (s > value[t]) {
            value[t] = s;
            place[t] = c;
        }
    }
    for (int s = 32; s > 0; s >>= 1) {
        __syncthreads();
        if (t < s && value[t + s] > value[t]) {
            value[t] = value[t + s];
            place[t] = place[t + s];
        }
    }
    if (t == 0)
        best[blockIdx.x] = place[0];
}

// All threads write the row's result, each from its own columns.
// run: block=64 grid=60 score=float[rows*cols] best=float[rows] rows=60 cols=200
__global__ void row_maximum_collides(const float *score, float *best, int rows, int cols)
{
    float top = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        top = fmaxf(top, score[blockIdx.x * cols + c]);
    best[blockIdx.x] = top; // expect: CP305@best
}
