// Codes, bits, hash tables and sorting.
#include <cuda_runtime.h>
#include <stdint.h>

const unsigned kFull = 0xffffffffu;
const unsigned kEmpty = 0xffffffffu;

// Six messages of a check lie together.
// run: block=128 grid=4 message=float[checks*6] sign=int[checks] checks=500
__global__ void check_parity(const float *message, int *sign, int checks)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= checks)
        return;
    int odd = 0;
#pragma unroll 1
    for (int k = 0; k < 6; ++k)
        odd ^= message[c * 6 + k] < 0.5f; // expect: CP101@message sectors=24
    sign[c] = odd;
}

// Min-sum over messages in six layers.
// run: block=128 grid=4 message=float[checks*6] out=float[checks*6] checks=512
__global__ void check_min_sum(const float *message, float *out, int checks)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= checks)
        return;
    float least = 1e30f, second = 1e30f;
    int where = -1;
    for (int k = 0; k < 6; ++k) {
        float m = fabsf(message[k * checks + c]);
        if (m < least) {
            second = least;
            least = m;
            where = k;
        } else if (m < second) {
            second = m;
        }
    }
    for (int k = 0; k < 6; ++k)
        out[k * checks + c] = k == where ? second : least;
}

// run: block=128 grid=8 variable=int[edges]:below(bits) message=float[edges] llr=float[bits]:zero edges=1000 bits=300
__global__ void add_to_variables(const int *variable, const float *message, float *llr, int edges, int bits)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < edges && variable[e] < bits)
        llr[variable[e]] += message[e]; // expect: CP305@llr // silent: CP101
}

void decode(const float *message, float *out, int *sign, const int *variable, float *llr, int checks, int bits)
{
    check_parity<<<(checks + 127) / 128, 128>>>(message, sign, checks);
    check_min_sum<<<(checks + 127) / 128, 128>>>(message, out, checks);
    add_to_variables<<<(checks * 6 + 127) / 128, 128>>>(variable, message, llr, checks * 6, bits);
}

// 64 states, two rows of metrics that change roles.
// run: block=64 grid=4 symbol=int[4*length]:below(4) last=int[256] length=50
// cudaperf: block=64
__global__ void viterbi(const int *symbol, int *last, int length)
{
    __shared__ int metric[2][64];
    int t = threadIdx.x, now = 0;
    metric[0][t] = t ? 1000 : 0;
    for (int k = 0; k < length; ++k) {
        __syncthreads();
        int s = symbol[blockIdx.x * length + k];
        int zero = metric[now][t >> 1] + __popc(s ^ (t & 3));
        int one = metric[now][(t >> 1) + 32] + __popc(s ^ (~t & 3));
        metric[now ^ 1][t] = min(zero, one);
        now ^= 1;
    }
    last[blockIdx.x * 64 + t] = metric[now][t];
}

// One row for old and new.
// run: block=64 grid=4 symbol=int[4*length]:below(4) last=int[256] length=50
// cudaperf: block=64
__global__ void viterbi_one_row(const int *symbol, int *last, int length)
{
    __shared__ int metric[64];
    int t = threadIdx.x;
    metric[t] = t ? 1000 : 0;
    for (int k = 0; k < length; ++k) {
        __syncthreads();
        int s = symbol[blockIdx.x * length + k];
        int zero = metric[t >> 1] + __popc(s ^ (t & 3)); // also: CP302
        int one = metric[(t >> 1) + 32] + __popc(s ^ (~t & 3)); // also: CP302
        metric[t] = min(zero, one); // expect: CP302@metric
    }
    last[blockIdx.x * 64 + t] = metric[t];
}

// 32 values of `width` bits become `width` words.
// run: block=128 grid=4 value=unsigned[512] plane=unsigned[16*width] width=8
// cudaperf: block=128
__global__ void bit_planes(const unsigned *value, unsigned *plane, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = i >> 5;
    unsigned v = value[i], mine = 0;
    for (int b = 0; b < width; ++b) {
        unsigned word = __ballot_sync(kFull, v >> b & 1u);
        if (lane == b)
            mine = word;
    }
    if (lane < width)
        plane[warp * width + lane] = mine;
}

// run: block=256 grid=4 packed=unsigned[words] value=unsigned[n] n=1000 width=11 words=400
__global__ void unpack_bits(const unsigned *packed, unsigned *value, int n, int width, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned bit = i * width, w = bit >> 5;
    unsigned low = packed[w], high = w + 1 < words ? packed[w + 1] : 0;
    value[i] = __funnelshift_r(low, high, bit & 31) & ((1u << width) - 1);
}

// Neighbouring values share words.
// run: block=256 grid=4 value=unsigned[n] packed=unsigned[words]:zero n=1000 words=400
__global__ void pack_eleven_bits(const unsigned *value, unsigned *packed, int n, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned bit = i * 11u, w = bit >> 5, shift = bit & 31, v = value[i] & 0x7ffu;
    packed[w] |= v << shift; // expect: CP305@packed
    if (shift > 21 && w + 1 < words)
        packed[w + 1] |= v >> (32 - shift); // also: CP305
}

__device__ __forceinline__ unsigned mix(unsigned k)
{
    k ^= k >> 16;
    k *= 0x85ebca6bu;
    return k ^ k >> 13;
}

// run: block=128 grid=8 key=unsigned[n]:below(5000) table=unsigned[4096]:fill(4294967295) n=1000
__global__ void hash_insert(const unsigned *key, unsigned *table, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned k = key[i], slot = mix(k) & 4095u;
    while (true) {
        unsigned was = atomicCAS(&table[slot], kEmpty, k); // silent: CP101
        if (was == kEmpty || was == k)
            return;
        slot = (slot + 1) & 4095u;
    }
}

// Found empty, but not kept.
// run: block=128 grid=8 key=unsigned[n]:below(5000) table=unsigned[4096]:fill(4294967295) n=1000
__global__ void hash_insert_plain(const unsigned *key, unsigned *table, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned k = key[i], slot = mix(k) & 4095u;
    for (int tries = 0; tries < 4096 && table[slot] != kEmpty; ++tries) // silent: CP101
        slot = (slot + 1) & 4095u;
    table[slot] = k; // expect: CP305@table // silent: CP101
}

// run: block=256 grid=4 key=int[1024]
// cudaperf: block=256
__global__ void bitonic_sort(int *key)
{
    __shared__ int s[256];
    const unsigned t = threadIdx.x;
    s[t] = key[blockIdx.x * 256 + t];
    for (unsigned size = 2; size <= 256; size <<= 1)
        for (unsigned gap = size >> 1; gap > 0; gap >>= 1) {
            __syncthreads();
            unsigned with = t ^ gap;
            if (with > t) {
                int a = s[t], b = s[with];
                bool up = (t & size) == 0;
                s[t] = up == (a < b) ? a : b;
                s[with] = up == (a < b) ? b : a;
            }
        }
    __syncthreads();
    key[blockIdx.x * 256 + t] = s[t];
}

// The barrier stands behind the inner loop.
// run: block=256 grid=4 key=int[1024]
// cudaperf: block=256
__global__ void bitonic_sort_barrier_outside(int *key)
{
    __shared__ int s[256];
    const unsigned t = threadIdx.x;
    s[t] = key[blockIdx.x * 256 + t];
    __syncthreads();
    for (unsigned size = 2; size <= 256; size <<= 1) {
        for (unsigned gap = size >> 1; gap > 0; gap >>= 1) {
            unsigned with = t ^ gap;
            if (with > t) {
                int a = s[t], b = s[with]; // also: CP302
                bool up = (t & size) == 0;
                s[t] = up == (a < b) ? a : b; // also: CP302; CP305
                s[with] = up == (a < b) ? b : a; // expect: CP302@s
            }
        }
        __syncthreads();
    }
    key[blockIdx.x * 256 + t] = s[t];
}

// A counter for each digit and thread; a thread's sixteen are neighbours.
// run: block=64 grid=4 key=unsigned[n] count=unsigned[64] n=1000
// cudaperf: block=64
__global__ void digit_counts(const unsigned *key, unsigned *count, int n)
{
    __shared__ unsigned c[64 * 16];
    const int t = threadIdx.x;
    for (int d = 0; d < 16; ++d)
        c[t * 16 + d] = 0; // expect: CP102@c degree=16
    for (int i = blockIdx.x * 64 + t; i < n; i += 64 * gridDim.x)
        ++c[t * 16 + (key[i] & 15)]; // also: CP102
    __syncthreads();
    if (t < 16) {
        unsigned sum = 0;
        for (int k = 0; k < 64; ++k)
            sum += c[k * 16 + t];
        count[blockIdx.x * 16 + t] = sum;
    }
}

// run: block=256 grid=4 data=uint8_t[n] table=unsigned[256] crc=unsigned[1024] n=5120
// cudaperf: block=256
__global__ void crc_of_lanes(const uint8_t *data, const unsigned *table, unsigned *crc, int n)
{
    __shared__ unsigned lut[256];
    lut[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    unsigned c = 0xffffffffu;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 1024)
        c = c >> 8 ^ lut[(c ^ data[i]) & 255]; // silent: CP102
    crc[blockIdx.x * 256 + threadIdx.x] = ~c;
}

// The lower half of a warp waits for the whole of it.
// run: block=64 grid=4 bit=unsigned[256]:below(2) word=unsigned[256]
// cudaperf: block=64
__global__ void syndrome_of_half(const unsigned *bit, unsigned *word)
{
    __shared__ unsigned s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = bit[i];
    __syncthreads();
    if ((t & 31) < 16) {
        unsigned parity = s[t] ^ s[t + 16];
        __syncwarp(); // expect: CP303
        s[t] = parity << (t & 15);
    }
    __syncthreads();
    word[i] = s[63 - t];
}

// Runs of equal bytes: only lanes where one starts come to the vote.
// run: block=128 grid=8 data=uint8_t[n]:below(3) runs=int[1]:zero n=1000
__global__ void count_runs(const uint8_t *data, int *runs, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool start = i < n && (i == 0 || data[i] != data[i - 1]); // also: CP101
    if (start) {
        unsigned starts = __ballot_sync(kFull, 1); // expect: CP303
        if ((threadIdx.x & 31) == __ffs(starts) - 1)
            atomicAdd(runs, __popc(starts));
    }
}

// Odd and even pairs in turn: the partner goes on to the next round before the barrier.
// run: block=64 grid=4 key=int[256]
// cudaperf: block=64
__global__ void odd_even_sort_continue(int *key)
{
    __shared__ int s[65];
    const int t = threadIdx.x;
    s[t] = key[blockIdx.x * 64 + t];
    if (t == 0)
        s[64] = 0x7fffffff;
    __syncthreads();
    for (int k = 0; k < 64; ++k) {
        if ((t ^ k) & 1)
            continue;
        int a = s[t], b = s[t + 1]; // also: CP302; CP303
        s[t] = min(a, b); // also: CP302; CP303
        s[t + 1] = max(a, b); // also: CP302; CP303; CP305
        __syncthreads(); // expect: CP301
    }
    key[blockIdx.x * 64 + t] = s[t]; // also: CP302; CP303
}

// run: block=64 grid=4 key=int[256]
// cudaperf: block=64
__global__ void odd_even_sort(int *key)
{
    __shared__ int s[65];
    const int t = threadIdx.x;
    s[t] = key[blockIdx.x * 64 + t];
    if (t == 0)
        s[64] = 0x7fffffff;
    __syncthreads();
    for (int k = 0; k < 64; ++k) {
        if (((t ^ k) & 1) == 0) {
            int a = s[t], b = s[t + 1];
            s[t] = min(a, b);
            s[t + 1] = max(a, b);
        }
        __syncthreads();
    }
    key[blockIdx.x * 64 + t] = s[t];
}
