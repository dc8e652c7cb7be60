// Values that a loop loads again and again from one place, since what it writes might change them.
#include <cuda_runtime.h>

struct Step {
    float dt, drag, lift;
    int rounds;
};

// run: block=128 grid=20 in=float[20*cols] gain=float[20] out=float[20*cols] cols=300
// decides: CP104
__global__ void scale_each_row(const float *in, const float *gain, float *out, int cols)
{
    int row = blockIdx.x;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[row * cols + c] = gain[row] * in[row * cols + c]; // expect: CP104@gain
}

void scale_rows(const float *in, const float *gain, float *out, int rows, int cols)
{
    scale_each_row<<<rows, 128>>>(in, gain, out, cols);
}

// The end of the row is looked up each time.
// run: block=128 grid=4 start=int[rows+1]:offsets(nnz) key=int[nnz] out=int[nnz] rows=500 nnz=4000
// decides: CP104
__global__ void shift_keys_of_rows(const int *start, const int *key, int *out, int rows, int nnz)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    for (int k = start[r]; k < start[r + 1]; ++k) // expect: CP104@start
        out[k] = key[k] - r; // silent: CP101
}

// run: block=128 grid=4 value=int[n] count=int[1]:fill(400) out=int[n] n=500
// decides: CP104
__global__ void double_counted(const int *value, const int *count, int *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < *count && i < n; i += gridDim.x * blockDim.x) // expect: CP104@count
        out[i] = 2 * value[i];
}

// Settings by a pointer to a structure.
// run: block=128 grid=4 x=float[n] v=float[n] step=Step[1] n=2000
// cudaperf: block=128
// decides: CP104
__global__ void advance_by_settings(float *x, float *v, const Step *step, int n)
{
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) {
        float slow = v[i] * (1.f - step->drag); // expect: CP104@step
        x[i] += slow * step->dt; // expect: CP104@step
        v[i] = slow;
    }
}

// Two of the three factors stay where they are.
// run: block=64 grid=8 a=float[n] b=float[n] c=float[m] out=float[n*m] n=500 m=24
// decides: CP104
__global__ void outer_with_weights(const float *a, const float *b, const float *c, float *out, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int j = 0; j < m; ++j) {
        float w = c[j];
        float left = a[i]; // expect: CP104@a
        float right = b[i]; // expect: CP104@b
        out[j * n + i] = w * left + right;
    }
}

void outer(const float *a, const float *b, const float *c, float *out, int n, int m)
{
    outer_with_weights<<<(n + 63) / 64, 64>>>(a, b, c, out, n, m);
}

// Under a condition of each round.
// run: block=128 grid=4 mask=int[n]:below(2) fallback=int[1] y=int[n] n=3000
// decides: CP104
__global__ void fill_masked(const int *mask, const int *fallback, int *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (mask[i])
            y[i] = fallback[0]; // expect: CP104@fallback
}

// The block's own entry of a table.
// run: block=96 grid=6 offset=int[6] in=int[6*500] out=int[6*500]
// cudaperf: block=96
// decides: CP104
__global__ void add_offset_of_block(const int *offset, const int *in, int *out)
{
    for (int k = threadIdx.x; k < 500; k += 96) {
        int at = blockIdx.x * 500 + k;
        out[at] = in[at] + offset[blockIdx.x]; // expect: CP104@offset
    }
}

// The inner loop runs along the row, its factor stays.
// run: block=128 grid=2 l=double[8*n] rows=double[8*n] out=double[64*n] n=256
// cudaperf: block=128
// decides: CP104
__global__ void products_of_columns(const double *l, const double *rows, double *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
            out[(i * 8 + j) * n + t] = l[i * n + t] * rows[j * n + t]; // expect: CP104@l
}

// A while loop with a counter of its own.
// run: block=128 grid=4 limit=float[1]:fill(1) x=float[n*12] n=500
// decides: CP104
__global__ void clip_levels(const float *limit, float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, level = 0;
    while (level < 12 && i < n) {
        float top = 0.5f * *limit; // expect: CP104@limit
        x[level * n + i] = top;
        ++level;
    }
}

// Four coefficients by constant indices.
// run: block=256 grid=2 poly=float[4] x=float[n] y=float[n] n=2000
// decides: CP104
__global__ void evaluate_cubics(const float *poly, const float *x, float *y, int n)
{
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float v = poly[3]; // expect: CP104@poly
        v = v * x[i] + poly[2]; // expect: CP104@poly
        v = v * x[i] + poly[1]; // expect: CP104@poly
        y[i] = v * x[i] + poly[0]; // expect: CP104@poly
    }
}

void cubics(const float *poly, const float *x, float *y, int n)
{
    evaluate_cubics<<<512, 256>>>(poly, x, y, n);
}

// A sum kept in memory while it grows.
// run: block=128 grid=4 in=float[n*20] low=float[n]:zero n=500
// decides: CP104
__global__ void sum_levels_in_memory(const float *in, float *low, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < 20; ++k)
        low[i] += in[k * n + i]; // expect: CP104@low
}

// The index is worked out before the loop.
// run: block=128 grid=3 shade=float[64] image=float[3*640] y=2 pitch=8
// cudaperf: block=128
// decides: CP104
__global__ void tint_row(const float *shade, float *image, int y, int pitch)
{
    const int entry = y * pitch + 5, base = blockIdx.x * 640;
    for (int x = threadIdx.x; x < 640; x += 128)
        image[base + x] = image[base + x] * shade[entry]; // expect: CP104@shade
}
