// How many blocks a kernel is given that could take any number. Figures are those of sm_80's 108 multiprocessors.
#include <cuda_runtime.h>

// run: block=256 grid=16 a=float[n] n=10000
// decides: CP201 CP202 CP203
__global__ void triple_in_stride(float *a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a[i] = 3.f * a[i];
}

void triple(float *a, int n, int blocks)
{
    const int few = 64;
    triple_in_stride<<<32, 256>>>(a, n); // expect: CP203
    triple_in_stride<<<few, 256>>>(a, n); // expect: CP203
    triple_in_stride<<<1, 1024>>>(a, n); // expect: CP203
    triple_in_stride<<<100, 128>>>(a, n); // expect: CP203
    triple_in_stride<<<108, 256>>>(a, n);
    triple_in_stride<<<128, 256>>>(a, n);
    triple_in_stride<<<2048, 256>>>(a, n);
    triple_in_stride<<<blocks, 256>>>(a, n);
    triple_in_stride<<<(n + 255) / 256, 256>>>(a, n);
    triple_in_stride<<<min((n + 255) / 256, 64), 256>>>(a, n);
    triple_in_stride<<<8, 256>>>(a, 2048);
    triple_in_stride<<<8, 256>>>(a, 20000);
    triple_in_stride<<<8, 256>>>(a, 1000000); // expect: CP203
}

// run: block=256 grid=1 in=float[n] out=float[n] n=3000
// decides: CP201 CP202 CP203
__global__ void exponentials_of_one_block(const float *in, float *out, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = expf(in[i]);
}

void exponentials(const float *in, float *out, int n)
{
    exponentials_of_one_block<<<1, 256>>>(in, out, n); // expect: CP203
    exponentials_of_one_block<<<1, 1024>>>(in, out, n); // expect: CP203
    exponentials_of_one_block<<<1, 256>>>(in, out, 200);
}

// One block by design: it sums.
// run: block=256 grid=1 partial=float[n] total=float[1] n=1000
// decides: CP201 CP202 CP203
__global__ void last_sum(const float *partial, float *total, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    float sum = 0.f;
    for (int i = t; i < n; i += 256)
        sum += partial[i];
    s[t] = sum;
    __syncthreads();
    for (int h = 128; h > 0; h >>= 1) {
        if (t < h)
            s[t] += s[t + h];
        __syncthreads();
    }
    if (t == 0)
        *total = s[0];
}

// The same with many blocks' sums: it strides over the grid.
// run: block=128 grid=8 in=float[n] sum=float[1]:zero n=10000
// decides: CP201 CP202 CP203
__global__ void sum_in_stride(const float *in, float *sum, int n)
{
    float mine = 0.f;
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        mine += in[i];
    for (int o = 16; o > 0; o >>= 1)
        mine += __shfl_down_sync(0xffffffffu, mine, o);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, mine);
}

void sums(const float *in, float *partial, float *total, int n)
{
    last_sum<<<1, 256>>>(partial, total, 1000);
    last_sum<<<1, 256>>>(partial, total, n);
    sum_in_stride<<<40, 128>>>(in, total, n); // expect: CP203
    sum_in_stride<<<216, 128>>>(in, total, n);
    sum_in_stride<<<1, 128>>>(in, total, n);
}

// An element a thread: the grid is the problem's.
// run: block=128 grid=4 a=float[512] b=float[512]
// decides: CP201 CP202 CP203
__global__ void one_each(const float *a, float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = sqrtf(a[i]);
}

void each(const float *a, float *b)
{
    one_each<<<4, 128>>>(a, b);
    one_each<<<1, 512>>>(a, b);
    one_each<<<16, 32>>>(a, b);
}

// A row a block: the loop goes along the row.
// run: block=128 grid=12 in=float[12*cols] out=float[12*cols] cols=300
// decides: CP201 CP202 CP203
__global__ void rows_by_block(const float *in, float *out, int cols)
{
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[blockIdx.x * cols + c] = 1.f - in[blockIdx.x * cols + c];
}

void rows_of_blocks(const float *in, float *out, int cols)
{
    rows_by_block<<<12, 128>>>(in, out, cols);
    rows_by_block<<<500, 128>>>(in, out, cols);
}

// Two directions, two strides.
// run: block=32x8 grid=2x2 in=float[w*h] out=float[w*h] w=100 h=50
// decides: CP201 CP202 CP203
__global__ void plane_in_strides(const float *in, float *out, int w, int h)
{
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < h; y += gridDim.y * blockDim.y)
        for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < w; x += gridDim.x * blockDim.x)
            out[y * w + x] = 0.5f * in[y * w + x];
}

void planes(const float *in, float *out, int w, int h)
{
    dim3 block(32, 8), grid(4, 4);
    plane_in_strides<<<grid, block>>>(in, out, w, h); // expect: CP203
    plane_in_strides<<<dim3(16, 16), block>>>(in, out, w, h);
    plane_in_strides<<<dim3(2, 50), block>>>(in, out, w, h); // expect: CP203
    plane_in_strides<<<dim3((w + 31) / 32, (h + 7) / 8), block>>>(in, out, w, h);
}

// The stride by name, the loop by while.
// run: block=128 grid=4 x=double[n] y=double[n] a=0.5 n=5000
// decides: CP201 CP202 CP203
__global__ void axpy_by_while(const double *x, double *y, double a, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n) {
        y[i] += a * x[i];
        i += step;
    }
}

void axpys(const double *x, double *y, size_t n)
{
    const int blocks = 2 * 16;
    axpy_by_while<<<blocks, 128>>>(x, y, 2.0, n); // expect: CP203
    axpy_by_while<<<8 * 16, 128>>>(x, y, 2.0, n);
    axpy_by_while<<<50, 512>>>(x, y, 2.0, n); // expect: CP203
}

// Blocks take chunks of the array in turn.
// run: block=64 grid=3 in=int[n] out=int[n] n=2000
// decides: CP201 CP202 CP203
__global__ void chunks_in_turn(const int *in, int *out, int n)
{
    for (int base = blockIdx.x * 64; base < n; base += gridDim.x * 64) {
        int i = base + threadIdx.x;
        if (i < n)
            out[i] = in[i] ^ 1;
    }
}

void chunks(const int *in, int *out, int n)
{
    chunks_in_turn<<<24, 64>>>(in, out, n); // expect: CP203
    chunks_in_turn<<<240, 64>>>(in, out, n);
}
