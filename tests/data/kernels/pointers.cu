// Pointer parameters: what is only read and doesn't say so.
#include <cuda_runtime.h>

struct Camera {
    float x, y, z, zoom;
};

// run: block=256 grid=8 out=float[n] a=float[n] b=float[n] n=2000
// decides: CP105
__global__ void geometric_mean(float *out, const float *a, const float *b, int n) // expect: CP105@a; CP105@b
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = sqrtf(a[i] * b[i]);
}

// One a line, and not const.
// run: block=128 grid=8 x=float[n] y=float[n] weight=float[n] out=float[n] n=1000
// decides: CP105
__global__ void weighted_sum(
    float *x, // expect: CP105@x
    float *__restrict__ y, // expect: CP105@y
    const float *__restrict__ weight,
    float *out,
    int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = weight[i] * x[i] + (1.f - weight[i]) * y[i];
}

void weigh(float *x, float *y, const float *weight, float *out, int n)
{
    weighted_sum<<<(n + 127) / 128, 128>>>(x, y, weight, out, n);
}

__device__ float bilinear(const float *image, float u, float v, int width)
{
    int x = int(u), y = int(v);
    float fx = u - x;
    return (1.f - fx) * image[y * width + x] + fx * image[y * width + x + 1];
}

// The image goes to a function, which may do anything with it.
// run: block=128 grid=4 image=float[width*20] u=float[n] v=float[n] out=float[n] n=500 width=20
// decides: CP105
__global__ void sample_image(const float *image, const float *u, const float *v, float *out, int n, int width) // expect: CP105@u; CP105@v
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = bilinear(image, 10.f * u[i], 10.f * v[i], width); // silent: CP101
}

void sample(const float *image, const float *u, const float *v, float *out, int n, int width)
{
    sample_image<<<(n + 127) / 128, 128>>>(image, u, v, out, n, width);
}

// A second pointer into the matrix is made.
// run: block=64 grid=10 matrix=float[10*cols] total=float[10] cols=64
// cudaperf: block=64
// decides: CP105
__global__ void row_by_pointer(const float *matrix, float *total, int cols)
{
    const float *row = matrix + blockIdx.x * cols;
    float v = threadIdx.x < cols ? row[threadIdx.x] : 0.f;
    for (int o = 16; o > 0; o >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, o);
    if (threadIdx.x == 0)
        total[blockIdx.x] = v;
}

// Both are written, one of them sometimes.
// run: block=128 grid=8 lo=float[n] hi=float[n] n=1000
// decides: CP105
__global__ void order_pairs(float *lo, float *hi, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && lo[i] > hi[i]) {
        float t = lo[i];
        lo[i] = hi[i];
        hi[i] = t;
    }
}

void order(float *lo, float *hi, int n)
{
    order_pairs<<<(n + 127) / 128, 128>>>(lo, hi, n);
}

// Atomics write.
// run: block=128 grid=8 key=int[n]:below(64) value=int[n] bin=int[64]:zero n=1000
// decides: CP105
__global__ void bin_values(const int *key, const int *value, int *bin, int n) // expect: CP105@key; CP105@value
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bin[key[i]], value[i]); // silent: CP101
}

// run: block=128 grid=4 eye=Camera[1] depth=float[n] size=float[n] n=500
// cudaperf: block=128
// decides: CP105
__global__ void projected_size(const Camera *eye, const float *__restrict__ depth, float *__restrict__ size, int n) // expect: CP105@eye
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        size[i] = eye->zoom / (depth[i] - eye->z + 2.f);
}

// A pointer that may be null is still only read.
// run: block=128 grid=4 in=float[n] bias=float[n] out=float[n] n=500
// decides: CP105
__global__ void add_optional_bias(const float *__restrict__ in, const float *bias, float *__restrict__ out, int n) // expect: CP105@bias
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = in[i];
    if (bias != nullptr)
        v += bias[i];
    out[i] = v;
}

// run: as=blend<double> block=128 grid=4 a=double[n] b=double[n] out=double[n] t=0.25 n=500
// decides: CP105
template <typename T>
__global__ void blend(const T *a, const T *__restrict__ b, T *__restrict__ out, T t, int n) // expect: CP105@a
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (T(1) - t) * a[i] + t * b[i];
}

void blend_halves(const double *a, const double *b, double *out, int n)
{
    blend<double><<<(n + 127) / 128, 128>>>(a, b, out, 0.5, n);
}

// Volatile: each read is meant.
// run: block=32 grid=2 signal=int[1] seen=int[64]
// cudaperf: block=32
// decides: CP105
__global__ void sample_signal(const volatile int *signal, int *seen)
{
    seen[blockIdx.x * 32 + threadIdx.x] = *signal;
}

// All that is written is a flag of the block's.
// run: block=128 grid=8 a=float[n] b=float[n] differ=int[8]:zero n=1000
// decides: CP105
__global__ void compare_arrays(const float *__restrict__ a, const float *__restrict__ b, int *differ, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] != b[i])
        differ[blockIdx.x] = 1;
}

// Restrict alone, or const alone, says half of it.
// run: block=128 grid=4 index=int[n]:perm from=float[n] to=float[n] n=500
// cudaperf: block=128
// decides: CP105
__global__ void permuted_copy(int *__restrict__ index, const float *from, float *__restrict__ to, int n) // expect: CP105@index; CP105@from
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[index[i]]; // silent: CP101
}
