// Which bank a shared element falls into.
#include <cuda_runtime.h>
#include <stdint.h>

// run: block=128 grid=4 in=float[n] out=float[n] n=512
// cudaperf: block=128
__global__ void stride_thirty_two(const float *in, float *out, int n)
{
    __shared__ float s[128 * 32];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t * 32] = in[i]; // expect: CP102@s degree=32
    __syncthreads();
    out[i] = s[(127 - t) * 32]; // expect: CP102@s degree=32
}

// run: block=128 grid=4 in=float[n] out=float[n] n=512
// cudaperf: block=128
__global__ void stride_thirty_three(const float *in, float *out, int n)
{
    __shared__ float s[128 * 33];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t * 33] = in[i];
    __syncthreads();
    out[i] = s[(127 - t) * 33];
}

// run: block=128 grid=4 in=float[n] out=float[n] n=512
// decides: CP201 CP202 CP203
__global__ void stride_four(const float *in, float *out, int n)
{
    __shared__ float s[128 * 4];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[4 * t] = in[i]; // expect: CP102@s degree=4
    __syncthreads();
    out[i] = s[4 * (t ^ 64)]; // expect: CP102@s degree=4
}

// run: block=128 grid=4 in=float[n] out=float[n] n=512
// decides: CP201 CP202 CP203
__global__ void stride_three(const float *in, float *out, int n)
{
    __shared__ float s[128 * 3];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[3 * t] = in[i];
    __syncthreads();
    out[i] = s[3 * (t ^ 64)];
}

// run: block=128 grid=4 in=float[n] out=float[n] n=512
__global__ void stride_two(const float *in, float *out, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[2 * t] = in[i]; // also: CP102
    __syncthreads();
    out[i] = s[2 * (t ^ 64)]; // also: CP102
}

void strides(const float *in, float *out, int n)
{
    stride_four<<<n / 128, 128>>>(in, out, n);
    stride_three<<<n / 128, 128>>>(in, out, n);
    stride_two<<<n / 128, 128>>>(in, out, n);
}

// All lanes read one element: a broadcast.
// run: block=256 grid=4 table=float[64] in=float[n] out=float[n] n=1000
// decides: CP201 CP202 CP203
__global__ void polynomial_broadcast(const float *table, const float *in, float *out, int n)
{
    __shared__ float coefficient[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 64)
        coefficient[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    float x = i < n ? in[i] : 0.f, y = 0.f;
    for (int k = 0; k < 64; k++)
        y = y * x + coefficient[k];
    if (i < n)
        out[i] = y;
}

void polynomial(const float *table, const float *in, float *out, int n)
{
    polynomial_broadcast<<<(n + 255) / 256, 256>>>(table, in, out, n);
}

// Four lanes to a word: bytes of one word don't conflict.
// run: block=128 grid=4 in=uint8_t[n] out=uint8_t[n] n=512
__global__ void reverse_bytes(const uint8_t *in, uint8_t *out, int n)
{
    __shared__ uint8_t s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n)
        out[i] = s[127 - t];
}

// run: block=128 grid=4 in=uint8_t[n] out=uint8_t[n] n=512
__global__ void byte_rows(const uint8_t *in, uint8_t *out, int n)
{
    __shared__ uint8_t s[128 * 128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    for (int k = 0; k < 128; ++k)
        s[t * 128 + k] = (uint8_t)(in[i] + k); // expect: CP102@s degree=32
    __syncthreads();
    unsigned sum = 0;
    for (int k = 0; k < 128; ++k)
        sum += s[k * 128 + t];
    out[i] = (uint8_t)sum;
}

void bytes(const uint8_t *in, uint8_t *out, int n)
{
    reverse_bytes<<<n / 128, 128>>>(in, out, n);
    byte_rows<<<n / 128, 128>>>(in, out, n);
}

struct Sample {
    float left, right, envelope, phase;
};

// Members of a 16-byte structure, one at a time.
// run: block=128 grid=4 in=float[n] out=float[n] n=512
// cudaperf: block=128
__global__ void shared_structures(const float *in, float *out, int n)
{
    __shared__ Sample ring[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    ring[t].phase = in[i]; // expect: CP102@ring degree=4
    __syncthreads();
    out[i] = ring[127 - t].phase; // expect: CP102@ring degree=4
}

// run: block=128 grid=4 in=float[n] out=float[n] n=512
// cudaperf: block=128
__global__ void shared_members_apart(const float *in, float *out, int n)
{
    __shared__ float left[128], right[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    left[t] = in[i];
    right[t] = 1.f - in[i];
    __syncthreads();
    out[i] = left[127 - t] * right[(t + 1) % 128];
}

// Doubles in columns of 16: every lane on the same pair of banks.
// run: block=16x16 grid=4 in=double[n] out=double[n] n=1024
// cudaperf: block=16x16
__global__ void double_columns(const double *in, double *out, int n)
{
    __shared__ double s[16][16];
    int x = threadIdx.x, y = threadIdx.y, base = blockIdx.x * 256;
    s[y][x] = in[base + 16 * y + x];
    __syncthreads();
    out[base + 16 * y + x] = s[x][y]; // expect: CP102@s
}

// run: block=16x16 grid=4 in=double[n] out=double[n] n=1024
// cudaperf: block=16x16
__global__ void double_columns_padded(const double *in, double *out, int n)
{
    __shared__ double s[16][17];
    int x = threadIdx.x, y = threadIdx.y, base = blockIdx.x * 256;
    s[y][x] = in[base + 16 * y + x];
    __syncthreads();
    out[base + 16 * y + x] = s[x][y];
}

// float4 columns: eight lanes at a time, all on four banks.
// run: block=32x8 grid=4 in=float4[n] out=float4[n] n=1024
// cudaperf: block=32x8
__global__ void float4_columns(const float4 *in, float4 *out, int n)
{
    __shared__ float4 s[32][8];
    int x = threadIdx.x, y = threadIdx.y, base = blockIdx.x * 256, t = y * 32 + x;
    s[t / 8][t % 8] = in[base + t];
    __syncthreads();
    out[base + t] = s[x][y]; // expect: CP102@s degree=8
}

// Each lane takes a row of its own to sum it.
// run: block=32 grid=8 in=float[n] out=float[256] n=8192
__global__ void sum_rows_of_a_tile(const float *in, float *out, int n)
{
    __shared__ float tile[32][32];
    int lane = threadIdx.x, base = blockIdx.x * 1024;
    for (int r = 0; r < 32; ++r)
        tile[r][lane] = in[base + 32 * r + lane];
    __syncwarp();
    float sum = 0.f;
    for (int c = 0; c < 32; ++c)
        sum += tile[lane][c]; // expect: CP102@tile degree=32
    out[blockIdx.x * 32 + lane] = sum;
}

// The same rows, each lane beginning at another column.
// run: block=32 grid=8 in=float[n] out=float[256] n=8192
__global__ void sum_rows_rotated(const float *in, float *out, int n)
{
    __shared__ float tile[32][32];
    int lane = threadIdx.x, base = blockIdx.x * 1024;
    for (int r = 0; r < 32; ++r)
        tile[r][lane] = in[base + 32 * r + lane];
    __syncwarp();
    float sum = 0.f;
    for (int c = 0; c < 32; ++c)
        sum += tile[lane][(c + lane) & 31];
    out[blockIdx.x * 32 + lane] = sum;
}

void sum_tiles(const float *in, float *out, int n)
{
    sum_rows_of_a_tile<<<n / 1024, 32>>>(in, out, n);
    sum_rows_rotated<<<n / 1024, 32>>>(in, out, n);
}

// Radix counters, one row of 16 a thread, turned: threads side by side.
// run: block=64 grid=4 key=unsigned[n] out=unsigned[n] n=1024
// cudaperf: block=64
__global__ void digit_counters_turned(const unsigned *key, unsigned *out, int n)
{
    __shared__ unsigned count[16][64];
    int t = threadIdx.x;
    for (int d = 0; d < 16; ++d)
        count[d][t] = 0;
    for (int k = 0; k < 4; ++k)
        count[key[blockIdx.x * 256 + 64 * k + t] & 15][t] += 1; // silent: CP102
    for (int d = 0; d < 16; ++d)
        out[(blockIdx.x * 4 + d % 4) * 64 + t] = count[d][t];
}

// run: block=64 grid=4 key=unsigned[n] out=unsigned[n] n=1024
// cudaperf: block=64
__global__ void digit_counters_by_thread(const unsigned *key, unsigned *out, int n)
{
    __shared__ unsigned count[64][16];
    int t = threadIdx.x;
    for (int d = 0; d < 16; ++d)
        count[t][d] = 0; // expect: CP102@count degree=16
    for (int k = 0; k < 4; ++k)
        count[t][key[blockIdx.x * 256 + 64 * k + t] & 15]++; // silent: CP102
    unsigned most = 0;
    for (int d = 0; d < 16; ++d)
        most = max(most, count[t][d]); // expect: CP102@count degree=16
    out[blockIdx.x * 64 + t] = most;
}
