// Elements that look like neighbours and can't move together, or do already.
#include <cuda_runtime.h>
#include <stdint.h>

// A byte each is nothing that a wider scalar would fetch.
// run: block=128 grid=4 rgba=uint8_t[4*n] grey=uint8_t[n] n=500
// decides: CP103
__global__ void grey_of_bytes(const uint8_t *rgba, uint8_t *grey, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int r = rgba[4 * i]; // expect: CP101@rgba sectors=4
    int g = rgba[4 * i + 1]; // expect: CP101@rgba sectors=4
    int b = rgba[4 * i + 2]; // expect: CP101@rgba sectors=4
    grey[i] = (uint8_t)((77 * r + 150 * g + 29 * b) >> 8);
}

// The pair begins at an odd element.
// run: block=128 grid=4 x=float[2*n+2] y=float[n] n=500
// decides: CP103
__global__ void odd_pairs(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = x[2 * i + 1]; // also: CP101
    float b = x[2 * i + 2]; // also: CP101
    y[i] = a * b;
}

// Every second thread would need both, but under its own test each.
// run: block=128 grid=4 limits=float[2*n] v=float[n] n=500
// decides: CP103
__global__ void clamp_by_tests(const float *limits, float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = v[i];
    if (x < 0.5f)
        x = fmaxf(x, limits[2 * i]); // also: CP101
    if (x > 0.7f)
        x = fminf(x, limits[2 * i + 1]); // also: CP101
    v[i] = x;
}

// run: block=128 grid=4 acc=float[2*n] re=float[n] im=float[n] n=500
// cudaperf: block=128
// decides: CP103
__global__ void add_to_pairs(float *acc, const float *re, const float *im, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    acc[2 * i] += re[i]; // also: CP101
    acc[2 * i + 1] += im[i]; // also: CP101
}

// run: block=128 grid=4 acc=float[2*n] re=float[n] im=float[n] n=500
// cudaperf: block=128
// decides: CP103
__global__ void add_to_pairs_atomically(float *acc, const float *re, const float *im, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&acc[2 * i], re[i]); // also: CP101
        atomicAdd(&acc[2 * i + 1], im[i]); // also: CP101
    }
}

// A block's width apart: each request is whole.
// run: block=128 grid=4 in=float[n] out=float[n] n=1024
// cudaperf: block=128
// decides: CP103
__global__ void two_a_thread_by_block(const float *in, float *out, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i + 128 >= n)
        return;
    float a = in[i];
    float b = in[i + 128];
    out[i] = a + b;
    out[i + 128] = a - b;
}

// Neighbours that the next thread reads, too.
// run: block=256 grid=4 u=float[n+2] v=float[n] n=1000
// decides: CP103
__global__ void three_point_average(const float *u, float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float left = u[i];
    float here = u[i + 1];
    float right = u[i + 2];
    v[i] = (left + here + right) / 3.f;
}

void average(const float *u, float *v, int n)
{
    three_point_average<<<(n + 255) / 256, 256>>>(u, v, n);
}

// Four doubles are more than one access takes.
// run: block=128 grid=4 m=double[4*n] det=double[n] n=500
// cudaperf: block=128
// decides: CP103
__global__ void determinants_of_two_by_two(const double *m, double *det, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double a = m[4 * i]; // expect: CP101@m sectors=32
    double b = m[4 * i + 1]; // expect: CP101@m sectors=32
    double c = m[4 * i + 2]; // expect: CP101@m sectors=32
    double d = m[4 * i + 3]; // expect: CP101@m sectors=32
    det[i] = a * d - b * c;
}

// A structure that is aligned moves at once anyway.
// run: block=128 grid=4 z=float2[n] m=float[n] n=500
// decides: CP103
__global__ void squares_of_float2(const float2 *z, float *m, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float2 c = z[i];
        m[i] = c.x * c.x + c.y * c.y;
    }
}

void squares(const float2 *z, float *m, int n)
{
    squares_of_float2<<<(n + 127) / 128, 128>>>(z, m, n);
}

// Where the pairs begin is the caller's.
// run: block=128 grid=4 packed=float[2*n+8] offset=3 out=float[n] n=500
// decides: CP103
__global__ void pairs_at_offset(const float *packed, int offset, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = packed[offset + 2 * i]; // also: CP101
    float b = packed[offset + 2 * i + 1]; // also: CP101
    out[i] = a - b;
}

// Rows of any length: a pair of the second row may begin anywhere.
// run: block=64 grid=4x3 table=float[3*cols] out=float[3*256] cols=513
// decides: CP103
__global__ void pairs_of_any_row(const float *table, float *out, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (2 * c + 1 >= cols)
        return;
    float a = table[r * cols + 2 * c]; // also: CP101
    float b = table[r * cols + 2 * c + 1]; // also: CP101
    out[r * (cols / 2) + c] = fminf(a, b);
}

void any_rows(const float *table, float *out, int cols)
{
    dim3 block(64), grid((cols + 127) / 128, 3);
    pairs_of_any_row<<<grid, block>>>(table, out, cols);
}

// The second index comes from memory.
// run: block=128 grid=4 x=float[n] next=int[n]:perm out=float[n] n=500
// decides: CP103
__global__ void linked_pairs(const float *x, const int *next, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] + x[next[i]]; // silent: CP101
}
