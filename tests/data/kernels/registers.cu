// Arrays of a thread whose indices are all known when compiling: they stay in registers.
#include <cuda_runtime.h>

#define TAPS 5

// run: block=128 grid=4 in=float[n+8] out=float[n] n=512
// decides: CP204
__global__ void five_tap_filter(const float *in, float *out, int n)
{
    float tap[TAPS];
    float weight[TAPS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
#pragma unroll
    for (int k = 0; k < TAPS; ++k) {
        tap[k] = in[i + k];
        weight[k] = 1.f / (k + 1);
    }
    float sum = 0.f;
#pragma unroll
    for (int k = 0; k < TAPS; ++k)
        sum += tap[k] * weight[TAPS - 1 - k];
    out[i] = sum;
}

void five_taps(const float *in, float *out, int n)
{
    five_tap_filter<<<(n + 127) / 128, 128>>>(in, out, n);
}

// Exchanges at fixed places.
// run: block=128 grid=4 in=float[4*n] out=float[4*n] n=512
// cudaperf: block=128
// decides: CP204
__global__ void sort_four_by_network(const float *in, float *out, int n)
{
    float v[4];
    int i = blockIdx.x * 128 + threadIdx.x;
    for (int k = 0; k < 4; ++k)
        v[k] = in[k * n + i];
    for (int round = 0; round < 4; ++round)
        for (int k = round & 1; k + 1 < 4; k += 2) {
            float low = fminf(v[k], v[k + 1]), high = fmaxf(v[k], v[k + 1]);
            v[k] = low;
            v[k + 1] = high;
        }
    for (int k = 0; k < 4; ++k)
        out[k * n + i] = v[k];
}

// Eight sums a thread; the long loop around them doesn't index them.
// run: block=64 grid=4 a=float[n*32] b=float[32*8] out=float[8*n] n=256 terms=32
// decides: CP204
__global__ void eight_dot_products(const float *a, const float *b, float *out, int n, int terms)
{
    float sum[8];
    float column[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        sum[k] = 0.f;
    for (int t = 0; t < terms; ++t) {
        float x = a[t * n + i];
#pragma unroll
        for (int k = 0; k < 8; ++k)
            column[k] = b[t * 8 + k];
#pragma unroll
        for (int k = 0; k < 8; ++k)
            sum[k] += x * column[k];
    }
#pragma unroll
    for (int k = 0; k < 8; ++k)
        out[k * n + i] = sum[k];
}

void eight(const float *a, const float *b, float *out, int n, int terms)
{
    eight_dot_products<<<(n + 63) / 64, 64>>>(a, b, out, n, terms);
}

// run: block=32 grid=4 m=double[9*n] inverse=double[9*n] n=128
// cudaperf: block=32
// decides: CP204
__global__ void invert_three_by_three(const double *m, double *inverse, int n)
{
    double a[3][3];
    double cofactor[3][3];
    int i = blockIdx.x * 32 + threadIdx.x;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            a[r][c] = m[(3 * r + c) * n + i];
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            cofactor[r][c] = a[(r + 1) % 3][(c + 1) % 3] * a[(r + 2) % 3][(c + 2) % 3]
                - a[(r + 1) % 3][(c + 2) % 3] * a[(r + 2) % 3][(c + 1) % 3];
    double det = a[0][0] * cofactor[0][0] + a[0][1] * cofactor[0][1] + a[0][2] * cofactor[0][2];
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            inverse[(3 * r + c) * n + i] = cofactor[c][r] / (det + 1e-9);
}

// Constants, one by one.
// run: block=256 grid=2 x=float[n] out=float[n] n=512
// decides: CP204
__global__ void polynomial_by_constants(const float *x, float *out, int n)
{
    float c[6];
    float power[6];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    c[0] = 1.f;
    c[1] = x[i];
    c[2] = 0.5f;
    c[3] = 1.f / 6.f;
    c[4] = 1.f / 24.f;
    c[5] = 1.f / 120.f;
    power[0] = 1.f;
#pragma unroll
    for (int k = 1; k < 6; ++k)
        power[k] = power[k - 1] * c[1];
    out[i] = c[0] + c[2] * power[2] + c[3] * power[3] + c[4] * power[4] + c[5] * power[5];
}

// The test is of the run, the indices are not.
// run: block=128 grid=4 flag=int[n]:below(2) in=float[6*n] out=float[n] n=512
// decides: CP204
__global__ void either_half(const int *flag, const float *in, float *out, int n)
{
    float lower[3];
    float upper[3];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        lower[k] = in[k * n + i];
        upper[k] = in[(3 + k) * n + i];
    }
    float sum = 0.f;
#pragma unroll
    for (int k = 0; k < 3; ++k)
        sum += flag[i] ? lower[k] : upper[k];
    out[i] = sum;
}

void halves(const int *flag, const float *in, float *out, int n)
{
    either_half<<<(n + 127) / 128, 128>>>(flag, in, out, n);
}

__device__ void add_three(float *to, const float *from)
{
#pragma unroll
    for (int k = 0; k < 3; ++k)
        to[k] += from[k];
}

// Handed to a function that is put in line.
// run: block=128 grid=4 p=float[3*n] v=float[3*n] n=500
// decides: CP204
__global__ void move_points(float *p, const float *v, int n)
{
    float at[3];
    float by[3];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        at[k] = p[k * n + i];
        by[k] = v[k * n + i];
    }
    add_three(at, by);
#pragma unroll
    for (int k = 0; k < 3; ++k)
        p[k * n + i] = at[k];
}

// run: as=sum_of_strips<4> block=64 grid=2 in=float[4*n] out=float[n] n=128
// cudaperf: block=64
// decides: CP204
template <int STRIPS>
__global__ void sum_of_strips(const float *in, float *out, int n)
{
    float strip[STRIPS];
    float half[STRIPS / 2];
    int i = blockIdx.x * 64 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < STRIPS; ++k)
        strip[k] = in[k * n + i];
#pragma unroll
    for (int k = 0; k < STRIPS / 2; ++k)
        half[k] = strip[k] + strip[STRIPS - 1 - k];
    float sum = 0.f;
#pragma unroll
    for (int k = 0; k < STRIPS / 2; ++k)
        sum += half[k];
    out[i] = sum;
}

// Shifted by one each round: the places stay the same.
// run: block=128 grid=4 in=float[n*20] out=float[n*20] n=512
// cudaperf: block=128
// decides: CP204
__global__ void shift_register(const float *in, float *out, int n)
{
    float past[4] = {0.f, 0.f, 0.f, 0.f};
    int i = blockIdx.x * 128 + threadIdx.x;
    for (int t = 0; t < 20; ++t) {
#pragma unroll
        for (int k = 3; k > 0; --k)
            past[k] = past[k - 1];
        past[0] = in[t * n + i];
        out[t * n + i] = past[0] - 0.5f * past[3];
    }
}

// A choice instead of an index.
// run: block=128 grid=4 kind=int[n]:below(3) in=float[n] out=float[n] n=512
// decides: CP204
__global__ void select_by_comparison(const int *kind, const float *in, float *out, int n)
{
    float gain[3];
    int count[3];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    gain[0] = in[i];
    gain[1] = 2.f * in[i];
    gain[2] = -in[i];
    float sum = 0.f;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        count[k] = kind[i] == k;
        sum += count[k] ? gain[k] : 0.f;
    }
    out[i] = sum + count[0] + count[2];
}
