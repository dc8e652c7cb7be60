// Shared memory against the blocks that fit a multiprocessor. Figures are those of sm_80: 164 KiB, 64 warps, 1 KiB a block reserved.
#include <cuda_runtime.h>

struct Charge {
    float x, y, z, q;
};

// 48 KiB: three blocks.
// run: block=128 grid=4 in=float[12288] out=float[n] n=512
// decides: CP201 CP202 CP203
__global__ void whole_table_staged(const float *in, float *out, int n)
{
    __shared__ float table[12288];
    for (int k = threadIdx.x; k < 12288; k += blockDim.x)
        table[k] = in[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = table[12287 - i % 12288];
}

void stage_tables(const float *in, float *out, int n)
{
    whole_table_staged<<<(n + 127) / 128, 128>>>(in, out, n); // expect: CP201
    whole_table_staged<<<(n + 255) / 256, 256>>>(in, out, n); // expect: CP201
    whole_table_staged<<<(n + 191) / 192, 192>>>(in, out, n); // expect: CP201
    whole_table_staged<<<(n + 511) / 512, 512>>>(in, out, n);
    whole_table_staged<<<(n + 1023) / 1024, 1024>>>(in, out, n);
    whole_table_staged<<<432, 128>>>(in, out, n); // also: CP201
    whole_table_staged<<<96, 128>>>(in, out, n);
}

// 40 KiB and the reserved one: four blocks to the byte.
// run: block=256 grid=2 in=float[n] out=float[n] n=512
// decides: CP201 CP202 CP203
__global__ void four_blocks_to_the_byte(const float *in, float *out, int n)
{
    __shared__ float s[10240];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.f;
    s[t + 4096] = s[t] * s[t];
    __syncthreads();
    if (i < n)
        out[i] = s[blockDim.x - 1 - t] + s[4096 + blockDim.x - 1 - t];
}

void four_blocks(const float *in, float *out, int n)
{
    four_blocks_to_the_byte<<<(n + 255) / 256, 256>>>(in, out, n);
    four_blocks_to_the_byte<<<(n + 223) / 224, 224>>>(in, out, n); // expect: CP201
    four_blocks_to_the_byte<<<(n + 95) / 96, 96>>>(in, out, n); // expect: CP201
}

// run: block=128 grid=4 shared=2048 in=float[n] out=float[n] n=512
// decides: CP201 CP202 CP203
__global__ void dynamic_window(const float *in, float *out, int n)
{
    extern __shared__ float window[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    window[t] = i < n ? in[i] : 0.f;
    __syncthreads();
    if (i < n)
        out[i] = window[blockDim.x - 1 - t];
}

void windows(const float *in, float *out, int n, size_t bytes)
{
    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    dynamic_window<<<blocks, threads, threads * sizeof(float)>>>(in, out, n);
    dynamic_window<<<blocks, threads, 64 * 1024>>>(in, out, n); // expect: CP201
    dynamic_window<<<blocks, threads, 16 << 10>>>(in, out, n);
    dynamic_window<<<blocks, 768, 90 * 1024>>>(in, out, n); // expect: CP201
    dynamic_window<<<blocks, 1024, 96 * 1024>>>(in, out, n);
    dynamic_window<<<blocks, 128, bytes>>>(in, out, n);
}

// Two tiles of doubles, 36 KiB.
// run: block=16x16 grid=2x2 a=double[n*n] b=double[n*n] c=double[n*n] n=32
// decides: CP201 CP202
__global__ void tiles_of_doubles(const double *a, const double *b, double *c, int n)
{
    __shared__ double left[48][48], right[48][48];
    int x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x * blockDim.x + x, row = blockIdx.y * blockDim.y + y;
    bool inside = col < n && row < n;
    left[y][x] = inside ? a[row * n + col] : 0.0;
    right[y][x] = inside ? b[row * n + col] : 0.0;
    __syncthreads();
    if (inside)
        c[row * n + col] = left[y][0] * right[0][x];
}

void multiply_tiles(const double *a, const double *b, double *c, int n)
{
    dim3 square(16, 16), flat(32, 4);
    tiles_of_doubles<<<dim3((n + 15) / 16, (n + 15) / 16), square>>>(a, b, c, n);
    tiles_of_doubles<<<dim3((n + 31) / 32, (n + 3) / 4), flat>>>(a, b, c, n); // expect: CP201
}

// run: block=64 grid=4 in=float[n] out=float[n] n=256
// cudaperf: block=64
// decides: CP201
__global__ void small_block_large_buffer(const float *in, float *out, int n) // expect: CP201
{
    __shared__ float buffer[5120];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    for (int k = 0; k < 80; ++k)
        buffer[k * 64 + t] = k * in[i];
    __syncthreads();
    out[i] = buffer[63 - t] + buffer[5056 + t];
}

// run: block=512 grid=2 in=float[n] out=float[n] n=1024
// cudaperf: block=512
// decides: CP201
__global__ void large_block_large_buffer(const float *in, float *out, int n)
{
    __shared__ float buffer[8192];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    for (int k = 0; k < 16; ++k)
        buffer[k * 512 + t] = k * in[i];
    __syncthreads();
    out[i] = buffer[511 - t];
}

// Nobody says how large its blocks are.
// run: block=128 grid=2 in=float[n] out=float[n] n=256
// decides: CP201
__global__ void unknown_block_large_buffer(const float *in, float *out, int n)
{
    __shared__ float buffer[12000];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    buffer[t] = i < n ? in[i] : 0.f;
    __syncthreads();
    if (i < n)
        out[i] = buffer[blockDim.x - 1 - t];
}

// One warp a block: thirty-two of them fit, half of the warps.
// run: block=32 grid=8 in=float[n] out=float[n] n=256
// decides: CP201 CP202 CP203
__global__ void blocks_of_one_warp(const float *in, float *out, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    float v = i < n ? in[i] : 0.f;
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    if (i < n)
        out[i] = v;
}

// run: block=32 grid=8 in=float[n] out=float[n] n=256
// decides: CP201 CP202 CP203
__global__ void one_warp_with_eight_kib(const float *in, float *out, int n)
{
    __shared__ float s[2048];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    for (int k = 0; k < 64; ++k)
        s[k * 32 + t] = i < n ? k + in[i] : 0.f;
    __syncwarp();
    if (i < n)
        out[i] = s[63 - t] + s[2047 - t];
}

void warps_of_one(const float *in, float *out, int n)
{
    blocks_of_one_warp<<<(n + 31) / 32, 32>>>(in, out, n);
    one_warp_with_eight_kib<<<(n + 31) / 32, 32>>>(in, out, n); // expect: CP201
}

// run: as=stage_typed<float,1024> block=128 grid=2 in=float[n] out=float[n] n=256
// decides: CP201 CP202 CP203
template <typename T, int N>
__global__ void stage_typed(const T *in, T *out, int n)
{
    __shared__ T s[N];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = i < n ? in[i] : T(0);
    __syncthreads();
    if (i < n)
        out[i] = s[127 - t];
}

void typed(const float *f, float *g, const double *d, double *e, int n)
{
    stage_typed<float, 1024><<<(n + 127) / 128, 128>>>(f, g, n);
    stage_typed<float, 2048><<<(n + 127) / 128, 128>>>(f, g, n);
    stage_typed<double, 4096><<<(n + 127) / 128, 128>>>(d, e, n); // expect: CP201
}

// run: block=64 grid=2 at=float4[n] out=float[n] n=128
// decides: CP201 CP202 CP203
__global__ void charges_near(const float4 *at, float *out, int n)
{
    __shared__ Charge near[1024];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float4 p = i < n ? at[i] : make_float4(0.f, 0.f, 0.f, 0.f);
    near[t] = Charge{p.x, p.y, p.z, p.w};
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < 64; ++k)
        sum += near[k].q;
    if (i < n)
        out[i] = sum;
}

void charges(const float4 *at, float *out, int n)
{
    charges_near<<<(n + 63) / 64, 64>>>(at, out, n); // expect: CP201
}

// Three arrays make 24 KiB together.
// run: block=128 grid=2 in=float[n] out=float[n] n=256
// cudaperf: block=128
// decides: CP201
__global__ void three_arrays_together(const float *in, float *out, int n) // expect: CP201
{
    __shared__ float a[2048];
    __shared__ int b[2048];
    __shared__ unsigned char c[8192];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    a[t] = in[i];
    b[t] = t;
    c[4 * t] = t & 7;
    __syncthreads();
    out[i] = a[127 - t] + b[127 - t] + c[4 * (127 - t)];
}

// run: block=96 grid=2 in=float[n] out=float[n] n=192
// cudaperf: block=96
// decides: CP201
__global__ void thirty_kib_for_three_warps(const float *in, float *out, int n) // expect: CP201
{
    __shared__ float s[80][96];
    int t = threadIdx.x, i = blockIdx.x * 96 + t;
    for (int k = 0; k < 80; ++k)
        s[k][t] = in[i] - k;
    __syncthreads();
    out[i] = s[0][95 - t] * s[79][t];
}

// run: block=8x8 grid=2x2 in=float[16*16] out=float[16*16]
// cudaperf: block=8x8
// decides: CP201
__global__ void twelve_kib_for_two_warps(const float *in, float *out) // expect: CP201
{
    __shared__ float s[48][64];
    int t = threadIdx.y * 8 + threadIdx.x, i = (blockIdx.y * 2 + blockIdx.x) * 64 + t;
    for (int k = 0; k < 48; ++k)
        s[k][t] = in[i] + k;
    __syncthreads();
    out[i] = s[7][63 - t];
}
