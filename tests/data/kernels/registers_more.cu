// More arrays of a thread that stay in registers: tiles, tables of few values, small solvers.
#include <cuda_runtime.h>

// A tile of results a thread, as in a matrix product.
// run: block=16x16 grid=2x2 a=float[64*n] b=float[64*n] c=float[64*64] n=40
// cudaperf: block=16x16
// decides: CP204
__global__ void two_by_two_results(const float *a, const float *b, float *c, int n)
{
    float sum[2][2] = {{0.f, 0.f}, {0.f, 0.f}};
    float left[2];
    float top[2];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int k = 0; k < n; ++k) {
#pragma unroll
        for (int u = 0; u < 2; ++u) {
            left[u] = a[(y + 32 * u) * n + k];
            top[u] = b[k * 64 + x + 32 * u];
        }
#pragma unroll
        for (int u = 0; u < 2; ++u)
#pragma unroll
            for (int v = 0; v < 2; ++v)
                sum[u][v] += left[u] * top[v];
    }
#pragma unroll
    for (int u = 0; u < 2; ++u)
#pragma unroll
        for (int v = 0; v < 2; ++v)
            c[(y + 32 * u) * 64 + x + 32 * v] = sum[u][v];
}

// Thomas' algorithm for four unknowns.
// run: block=64 grid=4 d=double[4*n] x=double[4*n] n=256
// decides: CP204
__global__ void four_unknowns(const double *d, double *x, int n)
{
    double upper[4];
    double right[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    upper[0] = -0.5;
    right[0] = d[i] / 2.0;
#pragma unroll
    for (int k = 1; k < 4; ++k) {
        double m = 1.0 / (2.0 + upper[k - 1]);
        upper[k] = -m;
        right[k] = (d[k * n + i] + right[k - 1]) * m;
    }
#pragma unroll
    for (int k = 2; k >= 0; --k)
        right[k] -= upper[k] * right[k + 1];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        x[k * n + i] = right[k];
}

void unknowns(const double *d, double *x, int n)
{
    four_unknowns<<<(n + 63) / 64, 64>>>(d, x, n);
}

// The number of rounds is a parameter; what the array holds is not numbered by it.
// run: block=128 grid=4 state=unsigned[4*n] n=512 rounds=10
// decides: CP204
__global__ void mix_four_words(unsigned *state, int n, int rounds)
{
    unsigned w[4];
    unsigned key[2] = {0x9e3779b9u, 0x7f4a7c15u};
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
#pragma unroll
    for (int k = 0; k < 4; ++k)
        w[k] = state[k * n + i];
    for (int r = 0; r < rounds; ++r) {
        w[0] += w[1] ^ key[0];
        w[2] += w[3] ^ key[1];
        w[1] = (w[1] << 7 | w[1] >> 25) + w[2];
        w[3] = (w[3] << 9 | w[3] >> 23) + w[0];
        key[0] += key[1];
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
        state[k * n + i] = w[k];
}

// Weights by a formula of the constant index.
// run: block=32x4 grid=2x8 in=float[64*34] out=float[64*32]
// cudaperf: block=32x4
// decides: CP204
__global__ void smooth_rows_by_three(const float *in, float *out)
{
    const float weight[3] = {0.25f, 0.5f, 0.25f};
    float near[3];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
#pragma unroll
    for (int k = 0; k < 3; ++k)
        near[k] = in[(y + k) * 64 + x];
    float sum = 0.f;
#pragma unroll
    for (int k = 0; k < 3; ++k)
        sum += weight[k] * near[k];
    out[y * 64 + x] = sum;
}

// A prefix sum of eight, step by step doubled.
// run: block=128 grid=2 in=int[8*n] out=int[8*n] n=256
// cudaperf: block=128
// decides: CP204
__global__ void prefix_of_eight(const int *in, int *out, int n)
{
    int v[8];
    int before[8];
    int i = blockIdx.x * 128 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        v[k] = in[k * n + i];
#pragma unroll
    for (int step = 1; step < 8; step *= 2) {
#pragma unroll
        for (int k = 0; k < 8; ++k)
            before[k] = k >= step ? v[k - step] : 0;
#pragma unroll
        for (int k = 0; k < 8; ++k)
            v[k] += before[k];
    }
#pragma unroll
    for (int k = 0; k < 8; ++k)
        out[k * n + i] = v[k];
}

// Break and continue between constant indices.
// run: block=128 grid=4 in=float[6*n] out=float[n] n=500
// decides: CP204
__global__ void first_above_mean(const float *in, float *out, int n)
{
    float v[6];
    float mean[1];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    mean[0] = 0.f;
#pragma unroll
    for (int k = 0; k < 6; ++k) {
        v[k] = in[k * n + i];
        mean[0] += v[k] / 6.f;
    }
    float first = 0.f;
#pragma unroll
    for (int k = 0; k < 6; ++k)
        if (v[k] > mean[0]) {
            first = v[k];
            break;
        }
    out[i] = first;
}

void above(const float *in, float *out, int n)
{
    first_above_mean<<<(n + 127) / 128, 128>>>(in, out, n);
}

// Every second place, counted down.
// run: block=128 grid=4 in=float[8*n] out=float[n] n=512
// decides: CP204
__global__ void alternating_sum(const float *in, float *out, int n)
{
    float even[4];
    float odd[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
#pragma unroll
    for (int k = 6; k >= 0; k -= 2) {
        even[k / 2] = in[k * n + i];
        odd[k / 2] = in[(k + 1) * n + i];
    }
    out[i] = even[0] + even[1] + even[2] + even[3] - odd[0] - odd[1] - odd[2] - odd[3];
}
