// What is no mistake but leaves time on the table, with the like that doesn't.
#include <cuda_runtime.h>

// run: block=16x16 grid=8x8 a=float[n*n] b=float[n*n] c=float[n*n] n=128
// cudaperf: block=16x16
// decides: CP104
__global__ void accumulate_in_memory(const float *a, const float *b, float *c, int n)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    for (int k = 0; k < n; ++k)
        c[row * n + col] += a[row * n + k] * b[k * n + col]; // expect: CP104@c
}

// run: block=16x16 grid=8x8 a=float[n*n] b=float[n*n] c=float[n*n] n=128
// cudaperf: block=16x16
// decides: CP104
__global__ void accumulate_in_register(const float *a, const float *b, float *c, int n)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0.f;
    for (int k = 0; k < n; ++k)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] += sum;
}

// run: block=128 grid=8 x=float[n] bias=float[n] y=float[n*16] n=1000
// decides: CP104
__global__ void reload_bias(const float *x, const float *bias, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < 16; ++k)
        y[k * n + i] = k + bias[i]; // expect: CP104@bias
}

// run: block=128 grid=8 x=float[n] bias=float[n] y=float[n*16] n=1000
// decides: CP104
__global__ void load_bias_once(const float *x, const float *bias, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float shift = bias[i] + x[i];
    for (int k = 0; k < 16; ++k)
        y[k * n + i] = k + shift;
}

// run: block=128 grid=8 out=float[n]:zero weight=float[m] n=1000 m=32
// decides: CP104
__global__ void add_weights_in_memory(float *out, const float *weight, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < m; ++k)
            out[i] += weight[k]; // expect: CP104@out
}

// run: block=128 grid=8 table=float[n*4] out=float[n] n=1000
// decides: CP104
__global__ void different_each_round(const float *table, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float s = 0.f;
        for (int k = 0; k < 4; ++k)
            s += table[k * n + i];
        out[i] = s;
    }
}

// run: block=128 grid=8 a=float[n] b=float[n] n=1000
// decides: CP105
__global__ void plain_pointers(float *a, float *b, int n) // expect: CP105@a
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i] + 1.f;
}

// run: block=128 grid=8 a=float[n] b=float[n] n=1000
// decides: CP105
__global__ void restricted_pointers(const float *__restrict__ a, float *__restrict__ b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i] + 1.f;
}

// Nothing here is only read.
// run: block=128 grid=8 a=float[n] n=1000
// decides: CP105
__global__ void in_place(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = a[i] * a[i];
}

// run: block=128 grid=8 x=float[n] y=float[n] z=float[n] n=1000
// decides: CP105
__global__ void one_of_three_plain(const float *__restrict__ x, float *y, float *__restrict__ z, int n) // expect: CP105@y
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i];
}

// run: block=128 grid=2 v=float[4*n] length=float[n] n=256
// decides: CP103
__global__ void four_neighbours(const float *v, float *length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = v[4 * i]; // expect: CP101@v sectors=16 // expect: CP103@v
    float b = v[4 * i + 1]; // expect: CP101@v sectors=16 // also: CP103
    float c = v[4 * i + 2]; // expect: CP101@v sectors=16 // also: CP103
    float d = v[4 * i + 3]; // expect: CP101@v sectors=16 // also: CP103
    length[i] = a * a + b * b + c * c + d * d;
}

// run: block=128 grid=2 v=float4[n] length=float[n] n=256
// decides: CP103
__global__ void four_at_once(const float4 *v, float *length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 q = v[i];
    length[i] = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
}

// run: block=128 grid=2 z=float[2*n] magnitude=float[n] n=256
// decides: CP103
__global__ void complex_parts(const float *z, float *magnitude, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float re = z[2 * i]; // also: CP101 // expect: CP103@z
    float im = z[2 * i + 1]; // also: CP101; CP103
    magnitude[i] = sqrtf(re * re + im * im);
}

// Parts in two arrays: nothing lies side by side in a thread.
// run: block=128 grid=2 re=float[n] im=float[n] magnitude=float[n] n=256
// decides: CP103
__global__ void complex_planes(const float *re, const float *im, float *magnitude, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        magnitude[i] = sqrtf(re[i] * re[i] + im[i] * im[i]);
}

// The index is known when the code runs, and registers have no index.
// run: block=128 grid=8 in=int[n]:below(32) out=int[n] n=1000
// decides: CP204
__global__ void local_by_data(const int *in, int *out, int n)
{
    int count[32] = {0}; // also: CP204
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < 100; ++k)
        count[in[(i + k) % n] & 31]++; // expect: CP204@count // silent: CP101
    int most = 0;
#pragma unroll
    for (int d = 0; d < 32; ++d)
        most = max(most, count[d]);
    out[i] = most;
}

// run: block=128 grid=8 in=float[n] out=float[n] n=1000
// decides: CP204
__global__ void local_unrolled(const float *in, float *out, int n)
{
    float window[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 4 > n)
        return;
#pragma unroll
    for (int k = 0; k < 4; ++k)
        window[k] = in[i + k];
    out[i] = window[0] * window[3] - window[1] * window[2];
}

// run: block=128 grid=8 in=float[n] out=float[n] n=1000 pick=2
// decides: CP204
__global__ void local_by_parameter(const float *in, float *out, int n, int pick)
{
    float window[32] = {0.f}; // also: CP204
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 64 > n)
        return;
    for (int k = 0; k < 64; ++k)
        window[(k * pick) & 31] += in[i + k]; // expect: CP204@window
    float top = 0.f;
#pragma unroll
    for (int k = 0; k < 32; ++k)
        top = fmaxf(top, window[k]);
    out[i] = top;
}

// run: block=128 grid=8 in=float[n] out=float[n] n=1024
// decides: CP304
__global__ void barrier_without_sharing(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? in[i] : 0.f;
    __syncthreads(); // expect: CP304
    if (i < n)
        out[i] = v * v;
}

// run: block=128 grid=8 in=float[n] out=float[n] n=1024
// cudaperf: block=128
// decides: CP304
__global__ void barrier_twice(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    __syncthreads(); // also: CP304
    __syncthreads(); // expect: CP304
    out[i] = s[127 - t];
}

// Each thread reads back its own element.
// run: block=128 grid=8 in=float[n] out=float[n] n=1024
// cudaperf: block=128
// decides: CP304
__global__ void barrier_for_own_element(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    __syncthreads(); // expect: CP304
    out[i] = 2.f * s[t];
}

// run: block=128 grid=8 in=float[n] out=float[n] n=1024
// cudaperf: block=128
// decides: CP304
__global__ void barrier_that_is_needed(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    __syncthreads();
    out[i] = s[127 - t];
}
