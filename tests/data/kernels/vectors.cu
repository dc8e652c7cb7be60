// Vectors: one thread an element, or a few.
#include <cuda_runtime.h>

// run: block=256 grid=40 n=10000 alpha=2.5 x=float[n] y=float[n]
// decides: CP103 CP105
__global__ void saxpy(int n, float alpha, const float *__restrict__ x, float *__restrict__ y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    y[i] = alpha * x[i] + y[i];
}

// run: block=256 grid=16 dst=double[n] src=double[n] n=10000
// decides: CP104 CP105
__global__ void copy_grid_stride(double *dst, const double *src, size_t n) // expect: CP105@src
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        dst[i] = src[i];
}

// Each thread walks a chunk of its own.
// run: block=128 grid=8 in=float[n] out=float[n] n=16384 chunk=16
// decides: CP104 CP105
__global__ void scale_chunks(const float *in, float *out, int n, int chunk) // expect: CP105@in
{
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
    int end = min(begin + chunk, n);
    for (int i = begin; i < end; ++i)
        out[i] = 3.0f * in[i]; // expect: CP101@out sectors=32; CP101@in sectors=32
}

void run_scale_chunks(const float *in, float *out, int n)
{
    const int chunk = 64;
    scale_chunks<<<(n + 128 * chunk - 1) / (128 * chunk), 128>>>(in, out, n, chunk);
}

// run: block=256 grid=40 samples=float[n] reversed=float[n] n=10000
// decides: CP105
__global__ void reverse(const float *samples, float *reversed, int n) // expect: CP105@samples
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        reversed[n - 1 - i] = samples[i];
}

// run: block=256 grid=40 signal=float[n+1] diff=float[n] n=10000
// decides: CP103
__global__ void forward_difference(const float *signal, float *diff, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float here = signal[i];
        diff[i] = signal[i + 1] - here;
    }
}

// run: block=256 grid=8 full=float[n*8] half=float[n] n=2000
__global__ void decimate_by_eight(const float *full, float *half, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        half[i] = full[8 * i]; // expect: CP101@full sectors=32
}

// run: block=256 grid=8 full=float[n*2] thin=float[n] n=2000
// decides: CP103
__global__ void decimate_by_two(const float *full, float *thin, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        thin[i] = full[2 * i]; // also: CP101
}

// run: block=256 grid=8 bank=float[n*stride] picked=float[n] n=2000 stride=48
__global__ void gather_channel(const float *bank, float *picked, int n, int stride)
{
    int frame = blockIdx.x * blockDim.x + threadIdx.x;
    if (frame < n)
        picked[frame] = bank[(size_t)frame * stride]; // expect: CP101@bank sectors=32
}

void run_gather_channel(const float *bank, float *picked, int n, int channels)
{
    dim3 block(256);
    dim3 grid((n + block.x - 1) / block.x);
    gather_channel<<<grid, block>>>(bank, picked, n, channels);
}

// The index comes from memory: nothing can be said of value[].
// run: block=256 grid=40 value=float[n] order=int[n]:perm out=float[n] n=10000
// decides: CP103 CP105
__global__ void permute(const float *value, const int *order, float *out, int n) // expect: CP105@value; CP105@order
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = value[order[i]]; // silent: CP101
}

// run: block=256 grid=10 rgba=float4[n] gain=0.5 n=2500
__global__ void gain_float4(float4 *rgba, float gain, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = rgba[i];
    p.x *= gain;
    p.y *= gain;
    p.z *= gain;
    rgba[i] = p;
}

// run: block=256 grid=10 a=float[n] b=float[n] n=10000
__global__ void add_vectorized(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        float4 v = reinterpret_cast<const float4 *>(a)[i];
        float4 w = reinterpret_cast<float4 *>(b)[i];
        w.x += v.x; w.y += v.y; w.z += v.z; w.w += v.w;
        reinterpret_cast<float4 *>(b)[i] = w;
    }
}

// run: block=128 grid=10 text=uint8_t[n] counts=unsigned[256]:zero n=10000
__global__ void count_bytes(const unsigned char *text, unsigned *counts, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[text[i]], 1u); // silent: CP101
}

// run: block=128 grid=4 price=float[n*16] average=float[n] n=512
__global__ void mean_of_sixteen(const float *price, float *average, int n)
{
    int series = blockIdx.x * blockDim.x + threadIdx.x;
    if (series < n) {
        const float *mine = price + 16 * series;
        float sum = 0.0f;
        for (int k = 0; k < 16; k++)
            sum += mine[k]; // expect: CP101@mine sectors=32
        average[series] = sum / 16.0f;
    }
}
