// Low precision and the rows of a network: quantization, softmax, top-k.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>

#define FULL 0xffffffffu
#define TID ((int)threadIdx.x)
#define GID ((int)(blockIdx.x * blockDim.x + threadIdx.x))
#define FOR_STRIDED(i, count) for (int i = TID; i < (count); i += (int)blockDim.x)
#define WARP_REDUCE(v, op)                                     \
    do {                                                       \
        for (int d_ = 16; d_ > 0; d_ >>= 1)                    \
            (v) = op((v), __shfl_xor_sync(FULL, (v), d_));     \
    } while (0)
#define ADD(a, b) ((a) + (b))
#define TOP 8

// run: block=256 grid=16 x=float[16*cols] y=float[16*cols] cols=1000
__global__ void softmax_rows(const float *x, float *y, int cols)
{
    __shared__ float part[32];
    const float *row = x + blockIdx.x * cols;
    float m = -1e30f, s = 0.f;
    FOR_STRIDED(c, cols) m = fmaxf(m, row[c]);
    WARP_REDUCE(m, fmaxf);
    if (TID % 32 == 0)
        part[TID / 32] = m;
    __syncthreads();
    m = TID % 32 < (int)blockDim.x / 32 ? part[TID % 32] : -1e30f;
    WARP_REDUCE(m, fmaxf);
    FOR_STRIDED(c, cols) s += __expf(row[c] - m);
    WARP_REDUCE(s, ADD);
    __syncthreads();
    if (TID % 32 == 0)
        part[TID / 32] = s;
    __syncthreads();
    s = TID % 32 < (int)blockDim.x / 32 ? part[TID % 32] : 0.f;
    WARP_REDUCE(s, ADD);
    FOR_STRIDED(c, cols) y[blockIdx.x * cols + c] = __expf(row[c] - m) / s;
}

// The second use of the scratch array comes too soon after the first.
// run: block=256 grid=16 x=float[16*cols] y=float[16*cols] cols=1000
// cudaperf: block=256
__global__ void softmax_rows_scratch_reused(const float *x, float *y, int cols)
{
    __shared__ float part[8];
    const float *row = x + blockIdx.x * cols;
    float m = -1e30f, s = 0.f;
    FOR_STRIDED(c, cols) m = fmaxf(m, row[c]);
    WARP_REDUCE(m, fmaxf);
    if (TID % 32 == 0)
        part[TID / 32] = m;
    __syncthreads();
    for (int w = 0; w < 8; ++w)
        m = fmaxf(m, part[w]); // also: CP302
    FOR_STRIDED(c, cols) s += __expf(row[c] - m);
    WARP_REDUCE(s, ADD);
    if (TID % 32 == 0)
        part[TID / 32] = s; // expect: CP302@part
    __syncthreads();
    s = 0.f;
    for (int w = 0; w < 8; ++w)
        s += part[w];
    FOR_STRIDED(c, cols) y[blockIdx.x * cols + c] = __expf(row[c] - m) / s;
}

// A thread has a row.
// run: block=128 grid=2 x=float[rows*cols] y=float[rows*cols] rows=250 cols=40
__global__ void softmax_by_thread(const float *x, float *y, int rows, int cols)
{
    int r = GID;
    if (r >= rows)
        return;
    float m = -1e30f, s = 0.f;
    for (int c = 0; c < cols; ++c)
        m = fmaxf(m, x[r * cols + c]); // expect: CP101@x sectors=32
    for (int c = 0; c < cols; ++c)
        s += __expf(x[r * cols + c] - m); // expect: CP101@x sectors=32
    for (int c = 0; c < cols; ++c)
        y[r * cols + c] = __expf(x[r * cols + c] - m) / s; // expect: CP101 sectors=32
}

// Maximum and sum in one pass; a row is a warp's.
// run: block=32x4 grid=15 x=float[rows*cols] y=float[rows*cols] rows=58 cols=96
// cudaperf: block=32x4
__global__ void softmax_online(const float *x, float *y, int rows, int cols)
{
    int r = blockIdx.x * blockDim.y + threadIdx.y;
    if (r >= rows)
        return;
    float m = -1e30f, s = 0.f;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float v = x[r * cols + c], old = m;
        m = fmaxf(m, v);
        s = s * __expf(old - m) + __expf(v - m);
    }
    for (int d = 16; d > 0; d >>= 1) {
        float om = __shfl_xor_sync(FULL, m, d), os = __shfl_xor_sync(FULL, s, d);
        float both = fmaxf(m, om);
        s = s * __expf(m - both) + os * __expf(om - both);
        m = both;
    }
    for (int c = threadIdx.x; c < cols; c += 32)
        y[r * cols + c] = __expf(x[r * cols + c] - m) / s;
}

// Rows are the block's y; the last block has rows that do not exist.
// run: block=32x8 grid=8 x=float[rows*32] gamma=float[32] y=float[rows*32] rows=60
// cudaperf: block=32x8
__global__ void norm_rows_leave(const float *x, const float *gamma, float *y, int rows)
{
    __shared__ float g[32];
    int r = blockIdx.x * 8 + threadIdx.y;
    if (r >= rows)
        return; // expect: CP306
    if (threadIdx.y == 0)
        g[threadIdx.x] = gamma[threadIdx.x];
    __syncthreads(); // also: CP306
    float v = x[r * 32 + threadIdx.x], mean = v;
    WARP_REDUCE(mean, ADD);
    y[r * 32 + threadIdx.x] = (v - mean / 32.f) * g[threadIdx.x];
}

// run: block=256 grid=4 x=float4[n] q=char4[n] n=1000 scale=100.0
__global__ void quantize_fours(const float4 *x, char4 *q, int n, float scale)
{
    int i = GID;
    if (i >= n)
        return;
    float4 v = x[i];
    q[i] = make_char4((signed char)__float2int_rn(v.x * scale), (signed char)__float2int_rn(v.y * scale),
                      (signed char)__float2int_rn(v.z * scale), (signed char)__float2int_rn(v.w * scale));
}

// Two lanes share a byte, and each puts in its half.
// run: block=256 grid=4 x=float[n] packed=uint8_t[n]:zero n=1000
__global__ void quantize_nibbles(const float *x, uint8_t *packed, int n)
{
    int i = GID;
    if (i < n) {
        uint8_t q = (uint8_t)(x[i] * 15.f);
        packed[i / 2] |= q << 4 * (i & 1); // expect: CP305@packed
    }
}

// run: block=256 grid=4 x=float2[n] packed=uint8_t[n] n=1000
__global__ void quantize_nibbles_in_pairs(const float2 *x, uint8_t *packed, int n)
{
    int i = GID;
    if (i < n) {
        float2 v = x[i];
        packed[i] = (uint8_t)(v.x * 15.f) | (uint8_t)(v.y * 15.f) << 4;
    }
}

// The scale of the block is read before all warps have given their part.
// run: block=256 grid=4 x=float[n] q=int8_t[n] n=1000
// cudaperf: block=256
__global__ void quantize_by_block_peak(const float *x, int8_t *q, int n)
{
    __shared__ float part[8];
    int i = GID;
    float v = i < n ? x[i] : 0.f, peak = fabsf(v);
    WARP_REDUCE(peak, fmaxf);
    if ((TID & 31) == 0)
        part[TID >> 5] = peak; // also: CP302
    for (int w = 0; w < 8; ++w)
        peak = fmaxf(peak, part[w]); // expect: CP302@part
    if (i < n)
        q[i] = (int8_t)(v / peak * 127.f);
}

// Each thread keeps its eight best, side by side.
// run: block=64 grid=2 x=float[64*cols] best=float[128] cols=50
// cudaperf: block=64
__global__ void top_eight_side_by_side(const float *x, float *best, int cols)
{
    __shared__ float heap[64 * TOP];
    for (int k = 0; k < TOP; ++k)
        heap[TID * TOP + k] = -1.f; // expect: CP102@heap degree=8
    for (int c = 0; c < cols; ++c) {
        float v = x[c * 64 + TID];
        for (int k = 0; k < TOP; ++k) {
            float h = heap[TID * TOP + k]; // expect: CP102@heap degree=8
            heap[TID * TOP + k] = fmaxf(h, v); // expect: CP102@heap degree=8
            v = fminf(h, v);
        }
    }
    best[blockIdx.x * 64 + TID] = heap[TID * TOP + TOP - 1]; // expect: CP102@heap degree=8
}

// run: block=64 grid=2 x=float[64*cols] best=float[128] cols=50
// cudaperf: block=64
__global__ void top_eight_in_layers(const float *x, float *best, int cols)
{
    __shared__ float heap[TOP][64];
#define HEAP(k) heap[k][TID]
    for (int k = 0; k < TOP; ++k)
        HEAP(k) = -1.f;
    for (int c = 0; c < cols; ++c) {
        float v = x[c * 64 + TID];
        for (int k = 0; k < TOP; ++k) {
            float h = HEAP(k);
            HEAP(k) = fmaxf(h, v);
            v = fminf(h, v);
        }
    }
    best[blockIdx.x * 64 + TID] = HEAP(TOP - 1);
#undef HEAP
}

// 100 classes: three warps, and four lanes of a fourth.
// run: block=128 grid=4 logits=float[4*classes] winner=int[4]:zero classes=100
// cudaperf: block=128
__global__ void argmax_classes(const float *logits, int *winner, int classes)
{
    if (TID < classes) {
        float v = logits[blockIdx.x * classes + TID];
        float top = v;
        for (int d = 16; d > 0; d >>= 1)
            top = fmaxf(top, __shfl_xor_sync(FULL, top, d)); // expect: CP303
        if (top == v && v > 0.99f)
            atomicMax(winner + blockIdx.x, TID);
    }
}

// run: block=128 grid=8 x=__half2[n] y=__half2[n] n=1000
__global__ void gelu_pairs(const __half2 *__restrict__ x, __half2 *__restrict__ y, int n)
{
    for (int i = GID; i < n; i += gridDim.x * blockDim.x) {
        float2 v = __half22float2(x[i]);
        v.x *= normcdff(v.x);
        v.y *= normcdff(v.y);
        y[i] = __float22half2_rn(v);
    }
}

// Four int8 to a word; a lane walks along its row of weights.
// run: block=128 grid=2 w=int[rows*words] x=int[words] y=int[rows] rows=256 words=32
__global__ void int8_matvec(const int *w, const int *x, int *y, int rows, int words)
{
    int r = GID;
    if (r >= rows)
        return;
    int sum = 0;
    for (int k = 0; k < words; ++k)
        sum = __dp4a(w[r * words + k], x[k], sum); // expect: CP101@w sectors=32
    y[r] = sum;
}

void network(const float *x, float *y, const int *w, const int *wx, int *wy, int rows, int cols)
{
    softmax_rows<<<rows, 512>>>(x, y, cols);
    softmax_by_thread<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);
    int8_matvec<<<(rows + 127) / 128, 128>>>(w, wx, wy, rows, 32);
}
