// Reads, k-mers and alignments.
#include <cuda_runtime.h>
#include <stdint.h>

enum : int { kMatch = 2, kMismatch = -1, kGap = 1, kWarpSize = 32 };

__device__ inline int substitution(uint8_t a, uint8_t b)
{
    return ((a ^ b) & 3) == 0 ? kMatch : kMismatch;
}

// Three anti-diagonals take turns: one is written, the two before it are read.
// run: block=128 grid=4 query=uint8_t[512] target=uint8_t[4*len] best=int[4] len=200
// cudaperf: block=128
__global__ void local_alignment(const uint8_t *query, const uint8_t *target, int *best, int len)
{
    __shared__ int line[3][129];
    __shared__ int top;
    const int t = threadIdx.x;
    const uint8_t mine = query[blockIdx.x * 128 + t];
    for (int k = 0; k < 3; ++k)
        line[k][t + 1] = 0;
    if (t == 0) {
        line[0][0] = line[1][0] = line[2][0] = 0;
        top = 0;
    }
    __syncthreads();
    int peak = 0;
    for (int d = 0; d < len + 127; ++d) {
        const int j = d - t;
        int now = 0;
        if (j >= 0 && j < len) {
            const int s = substitution(mine, target[blockIdx.x * len + j]); // also: CP101
            const int diagonal = line[(d + 1) % 3][t] + s;
            const int beside = max(line[(d + 2) % 3][t], line[(d + 2) % 3][t + 1]) - kGap;
            now = max(0, max(diagonal, beside));
        }
        line[d % 3][t + 1] = now;
        peak = max(peak, now);
        __syncthreads();
    }
    atomicMax(&top, peak);
    __syncthreads();
    if (t == 0)
        best[blockIdx.x] = top;
}

// Two anti-diagonals only: the new one replaces what a neighbour still needs.
// run: block=128 grid=4 query=uint8_t[512] target=uint8_t[4*len] best=int[4] len=200
// cudaperf: block=128
__global__ void local_alignment_two_lines(const uint8_t *query, const uint8_t *target, int *best, int len)
{
    __shared__ int line[2][129];
    const int t = threadIdx.x;
    const uint8_t mine = query[blockIdx.x * 128 + t];
    line[0][t + 1] = line[1][t + 1] = 0;
    if (t == 0)
        line[0][0] = line[1][0] = 0;
    __syncthreads();
    int now = 0;
    for (int d = 0; d < len + 127; ++d) {
        const int j = d - t, old = d & 1;
        now = 0;
        if (j >= 0 && j < len) {
            const int s = substitution(mine, target[blockIdx.x * len + j]); // also: CP101
            const int diagonal = line[old][t] + s; // also: CP302
            now = max(0, max(diagonal, max(line[1 - old][t], line[1 - old][t + 1]) - kGap));
        }
        line[old][t + 1] = now; // expect: CP302@line
        __syncthreads();
    }
    if (t == 127)
        best[blockIdx.x] = now;
}

// run: block=256 grid=8 bases=uint8_t[n] table=unsigned[1024]:zero n=2000
__global__ void count_fivemers(const uint8_t *bases, unsigned *table, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 4 >= n)
        return;
    unsigned code = 0;
    for (int k = 0; k < 5; ++k)
        code = code << 2 | (bases[i + k] & 3); // also: CP101
    table[code] += 1; // expect: CP305@table // silent: CP101
}

// run: block=256 grid=8 bases=uint8_t[n] table=unsigned[1024]:zero n=2000
__global__ void count_fivemers_atomically(const uint8_t *bases, unsigned *table, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 4 >= n)
        return;
    unsigned code = 0;
    for (int k = 0; k < 5; ++k)
        code = code << 2 | (bases[i + k] & 3); // also: CP101
    atomicInc(&table[code], 0xffffffffu); // silent: CP101
}

void fivemers(const uint8_t *bases, unsigned *table, int n)
{
    int blocks = (n + 255) / 256;
    count_fivemers<<<blocks, 256>>>(bases, table, n);
    count_fivemers_atomically<<<blocks, 256>>>(bases, table, n);
}

// Sixteen bases to a word, each lane with sixteen bytes of its own.
// run: block=128 grid=4 bases=uint8_t[words*16] packed=uint32_t[words] words=512
__global__ void pack_bases(const uint8_t *bases, uint32_t *packed, int words)
{
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= words)
        return;
    uint32_t code = 0;
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        code |= (uint32_t)(bases[16 * w + k] & 3) << (2 * k); // expect: CP101@bases sectors=16
    packed[w] = code;
}

__device__ uint32_t squeeze(uint32_t four)
{
    four &= 0x03030303u;
    return (four | four >> 6 | four >> 12 | four >> 18) & 0xff;
}

// run: block=128 grid=4 bases=uint4[words] packed=uint32_t[words] words=512
__global__ void pack_bases_wide(const uint4 *bases, uint32_t *packed, int words)
{
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w < words) {
        uint4 b = bases[w];
        packed[w] = squeeze(b.x) | squeeze(b.y) << 8 | squeeze(b.z) << 16 | squeeze(b.w) << 24;
    }
}

// run: block=64 grid=8 reads=uint8_t[n*length] gc=float[n] n=500 length=100
__global__ void gc_content(const uint8_t *reads, float *gc, int n, int length)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n)
        return;
    const uint8_t *read = reads + (size_t)r * length;
    int count = 0;
    for (int k = 0; k < length; ++k) {
        const uint8_t base = read[k] & 3; // expect: CP101@read sectors=32
        count += base == 1 || base == 2;
    }
    gc[r] = (float)count / length;
}

// Good reads move to the front; a warp reserves room for all of its own at once.
// run: block=128 grid=8 quality=int[n]:below(60) kept=int[n]:zero room=int[1]:zero n=1000
__global__ void keep_good_reads(const int *quality, int *kept, int *room, int n)
{
    const unsigned all = 0xffffffffu;
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % kWarpSize;
    bool good = i < n && quality[i] >= 30;
    unsigned votes = __ballot_sync(all, good);
    int base = 0;
    if (lane == 0)
        base = atomicAdd(room, __popc(votes));
    base = __shfl_sync(all, base, 0);
    if (good)
        kept[base + __popc(votes & ((1u << lane) - 1u))] = i; // silent: CP101; CP305
}

// run: block=128 grid=8 a=unsigned[n] b=unsigned[n] distance=unsigned[1]:zero n=1000
__global__ void hamming_distance(const unsigned *a, const unsigned *b, unsigned *distance, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned differing = __popc(a[i] ^ b[i]);
        unsigned sum = __reduce_add_sync(0xffffffffu, differing); // expect: CP303
        if (threadIdx.x % kWarpSize == 0)
            atomicAdd(distance, sum);
    }
}

// Reads are shorter than the block; threads behind the end leave.
// run: block=96 grid=8 length=int[8]:below(90) emission=float[768] score=float[8]
// cudaperf: block=96
__global__ void forward_column(const int *length, const float *emission, float *score)
{
    __shared__ float column[97];
    const int t = threadIdx.x, rows = length[blockIdx.x] + 1;
    if (t >= rows)
        return; // expect: CP306
    float e = emission[blockIdx.x * 96 + t];
    column[t + 1] = e;
    if (t == 0)
        column[0] = 1.f;
    for (int step = 0; step < 20; ++step) {
        __syncthreads(); // also: CP306
        float from = column[t];
        __syncthreads(); // also: CP306
        column[t + 1] = 0.5f * (from + column[t + 1]) * e;
    }
    if (t == rows - 1)
        score[blockIdx.x] = column[rows];
}

// A band of 32 cells is a warp; the row above comes from the lane to the left.
// run: block=128 grid=2 query=uint8_t[8*32] target=uint8_t[8*len] distance=int[8] len=70
// cudaperf: block=128
__global__ void banded_edit_distance(const uint8_t *query, const uint8_t *target, int *distance, int len)
{
    const int pair = (blockIdx.x * 128 + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
    const uint8_t q = query[pair * kWarpSize + lane];
    int left = lane + 1, corner = lane;
    for (int step = 0; step < len + kWarpSize - 1; ++step) {
        const int j = step - lane;
        int above = __shfl_up_sync(0xffffffffu, left, 1);
        if (lane == 0)
            above = j + 1;
        if (j >= 0 && j < len) {
            const int replaced = corner + (((q ^ target[pair * len + j]) & 3) != 0); // also: CP101
            left = min(replaced, min(left, above) + 1);
        }
        corner = above;
    }
    if (lane == kWarpSize - 1)
        distance[pair] = left;
}

// Counts of four bases at eight places, turned by a tile of exactly that shape.
// run: block=32x8 grid=4 count=int[1024] turned=int[1024]
// cudaperf: block=32x8
__global__ void turn_profile(const int *count, int *turned)
{
    __shared__ int tile[32][8];
    const int tx = threadIdx.x, ty = threadIdx.y, base = blockIdx.x * 256;
    tile[tx][ty] = count[base + ty * 32 + tx]; // expect: CP102@tile degree=8
    __syncthreads();
    const int flat = ty * 32 + tx;
    turned[base + flat] = tile[flat >> 3][flat & 7];
}
