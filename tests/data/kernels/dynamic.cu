// Shared memory whose size the launch gives, alone and split among arrays.
#include <cuda_runtime.h>

// run: block=128 grid=8 shared=512 in=float[n] out=float[n] n=1024
__global__ void reverse_block(const float *in, float *out, int n)
{
    extern __shared__ float line[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    line[t] = i < n ? in[i] : 0.f;
    __syncthreads();
    if (i < n)
        out[i] = line[blockDim.x - 1 - t];
}

// run: block=128 grid=8 shared=512 in=float[n] out=float[n] n=1024
__global__ void reverse_block_racing(const float *in, float *out, int n)
{
    extern __shared__ float line[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    line[t] = i < n ? in[i] : 0.f; // also: CP302
    if (i < n)
        out[i] = line[blockDim.x - 1 - t]; // expect: CP302/CP303@line
}

void reverse_blocks(const float *in, float *out, int n)
{
    const int threads = 128;
    reverse_block<<<(n + threads - 1) / threads, threads, threads * sizeof(float)>>>(in, out, n);
    reverse_block_racing<<<(n + threads - 1) / threads, threads, threads * sizeof(float)>>>(in, out, n);
}

// Two arrays in one: keys, then counts.
// run: block=128 grid=8 shared=1024 key=int[n]:below(128) result=int[n] n=1024
__global__ void keys_and_counts(const int *key, int *result, int n)
{
    extern __shared__ int pool[];
    int *keys = pool;
    int *counts = pool + blockDim.x;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    keys[t] = i < n ? key[i] : 0;
    counts[t] = 0;
    __syncthreads();
    atomicAdd(&counts[keys[t] % blockDim.x], 1); // silent: CP102
    __syncthreads();
    if (i < n)
        result[i] = counts[t];
}

// run: block=128 grid=8 shared=1024 key=int[n]:below(128) result=int[n] n=1024
__global__ void keys_and_counts_racing(const int *key, int *result, int n)
{
    extern __shared__ int pool[];
    int *keys = pool;
    int *counts = &pool[blockDim.x];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    keys[t] = i < n ? key[i] : 0;
    counts[t] = 0; // also: CP302
    atomicAdd(&counts[keys[t] % blockDim.x], 1); // expect: CP302/CP303@counts // silent: CP102
    __syncthreads();
    if (i < n)
        result[i] = counts[t];
}

void count_keys(const int *key, int *result, int n)
{
    int threads = 256;
    size_t bytes = 2 * threads * sizeof(int);
    keys_and_counts<<<(n + threads - 1) / threads, threads, bytes>>>(key, result, n);
    keys_and_counts_racing<<<(n + threads - 1) / threads, threads, bytes>>>(key, result, n);
}

// Doubles in front of floats, so that both are aligned.
// run: block=64 grid=4 shared=768 a=double[n] b=float[n] out=double[n] n=256
// cudaperf: block=64
__global__ void mixed_pool(const double *a, const float *b, double *out, int n)
{
    extern __shared__ double memory[];
    double *wide = memory;
    float *thin = reinterpret_cast<float *>(memory + blockDim.x);
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    wide[t] = i < n ? a[i] : 0.0;
    thin[t] = i < n ? b[i] : 0.f;
    __syncthreads();
    if (i < n)
        out[i] = wide[63 - t] * thin[63 - t];
}

// Two disjoint halves: writes to one, reads of the other, no barrier needed between.
// run: block=128 grid=4 shared=1024 in=float[n] out=float[n] n=512
// cudaperf: block=128
__global__ void halves_do_not_meet(const float *in, float *out, int n)
{
    extern __shared__ float both[];
    float *first = both;
    float *second = both + 128;
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    first[t] = in[i];
    __syncthreads();
    second[t] = first[127 - t];
    float own = second[t];
    out[i] = own + first[(t + 64) % 128];
}

// Offset one too few: the arrays overlap in one element.
// run: block=128 grid=4 shared=1024 in=float[n] out=float[n] n=512
// cudaperf: block=128
__global__ void halves_overlap(const float *in, float *out, int n)
{
    extern __shared__ float both[];
    float *first = both;
    float *second = both + 127;
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    first[t] = in[i];
    __syncthreads();
    second[t] = 2.f * in[i]; // also: CP302; CP303
    out[i] = first[(t + 64) % 128]; // expect: CP302
}

// A tile with the pitch of the block, 32 wide: its columns share a bank.
// run: block=32x32 grid=4 shared=4096 in=float[n] out=float[n] n=4096
// cudaperf: block=32x32
__global__ void flat_tile_columns(const float *in, float *out, int n)
{
    extern __shared__ float flat[];
    int base = blockIdx.x * 1024, tx = threadIdx.x, ty = threadIdx.y;
    flat[ty * blockDim.x + tx] = in[base + ty * 32 + tx];
    __syncthreads();
    out[base + ty * 32 + tx] = flat[tx * blockDim.y + ty]; // expect: CP102@flat degree=32
}

// run: block=32x32 grid=4 shared=4224 in=float[n] out=float[n] n=4096
// cudaperf: block=32x32
__global__ void flat_tile_padded(const float *in, float *out, int n)
{
    extern __shared__ float flat[];
    const int pitch = blockDim.x + 1;
    int base = blockIdx.x * 1024, tx = threadIdx.x, ty = threadIdx.y;
    flat[ty * pitch + tx] = in[base + ty * 32 + tx];
    __syncthreads();
    out[base + ty * 32 + tx] = flat[tx * pitch + ty];
}

// A warp has a slice, lanes share it.
// run: block=128 grid=4 shared=512 in=float[n] out=float[n] n=512
// cudaperf: block=128
__global__ void slice_of_a_warp(const float *in, float *out, int n)
{
    extern __shared__ float lanes[];
    int lane = threadIdx.x % 32, i = blockIdx.x * 128 + threadIdx.x;
    float *slice = lanes + (threadIdx.x / 32) * 32;
    slice[lane] = in[i];
    __syncwarp();
    out[i] = slice[lane ^ 5];
}

// run: block=128 grid=4 shared=512 in=float[n] out=float[n] n=512
// cudaperf: block=128
__global__ void slice_of_a_warp_racing(const float *in, float *out, int n)
{
    extern __shared__ float lanes[];
    int lane = threadIdx.x % 32, i = blockIdx.x * 128 + threadIdx.x;
    float *slice = lanes + (threadIdx.x / 32) * 32;
    slice[lane] = in[i]; // also: CP303; CP302
    out[i] = slice[lane ^ 5]; // expect: CP303/CP302@slice
}
