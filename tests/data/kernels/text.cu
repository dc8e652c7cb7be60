// Integers and characters: search, bit reversal, sorting.
#include <cuda_runtime.h>
#include <stdint.h>

#define PATTERN_MAX 16

// run: block=256 grid=16 text=char[n] pattern=char[m] match=int[n] n=4000 m=5
// decides: CP304
__global__ void find_pattern(const char *text, const char *pattern, int *match, int n, int m)
{
    __shared__ char p[PATTERN_MAX];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < m && threadIdx.x < PATTERN_MAX)
        p[threadIdx.x] = pattern[threadIdx.x];
    __syncthreads();
    if (i + m > n)
        return;
    int same = 1;
    for (int k = 0; k < m; ++k)
        same &= text[i + k] == p[k];
    match[i] = same;
}

// run: block=256 grid=16 text=char[n] pattern=char[m] match=int[n] n=4000 m=5
__global__ void find_pattern_leaves(const char *text, const char *pattern, int *match, int n, int m)
{
    __shared__ char p[PATTERN_MAX];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + m > n)
        return; // expect: CP306
    if (threadIdx.x < m && threadIdx.x < PATTERN_MAX)
        p[threadIdx.x] = pattern[threadIdx.x];
    __syncthreads(); // also: CP306
    int same = 1;
    for (int k = 0; k < m; ++k)
        same &= text[i + k] == p[k];
    match[i] = same;
}

void find(const char *text, const char *pattern, int *match, int n, int m)
{
    find_pattern<<<(n + 255) / 256, 256>>>(text, pattern, match, n, m);
    find_pattern_leaves<<<(n + 255) / 256, 256>>>(text, pattern, match, n, m);
}

// Lines of fixed length, one a thread.
// run: block=128 grid=4 text=uint8_t[lines*80] spaces=int[lines] lines=500
__global__ void spaces_per_line(const uint8_t *text, int *spaces, int lines)
{
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines)
        return;
    int count = 0;
    for (int c = 0; c < 80; ++c)
        count += text[80 * line + c] == 32; // expect: CP101@text sectors=32
    spaces[line] = count;
}

// Turned bits scatter neighbours over the array.
// run: block=128 grid=8 in=float[1024] out=float[1024] bits=10
__global__ void bit_reverse_copy(const float *in, float *out, int bits)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[__brev(i) >> (32 - bits)]; // also: CP101
}

// A sorting network in shared memory.
// run: block=128 grid=4 key=unsigned[n] n=512
// cudaperf: block=128
// decides: CP304
__global__ void bitonic_block(unsigned *key, int n)
{
    __shared__ unsigned s[128];
    unsigned t = threadIdx.x;
    s[t] = key[blockIdx.x * 128 + t];
    __syncthreads();
    for (unsigned size = 2; size <= 128; size <<= 1)
        for (unsigned step = size >> 1; step > 0; step >>= 1) {
            unsigned other = t ^ step;
            if (other > t) {
                bool up = (t & size) == 0;
                if ((s[t] > s[other]) == up) {
                    unsigned keep = s[t];
                    s[t] = s[other];
                    s[other] = keep;
                }
            }
            __syncthreads();
        }
    key[blockIdx.x * 128 + t] = s[t];
}

// run: block=128 grid=4 key=unsigned[n] n=512
// cudaperf: block=128
__global__ void bitonic_block_racing(unsigned *key, int n)
{
    __shared__ unsigned s[128];
    unsigned t = threadIdx.x;
    s[t] = key[blockIdx.x * 128 + t];
    __syncthreads();
    for (unsigned size = 2; size <= 128; size <<= 1) {
        for (unsigned step = size >> 1; step > 0; step >>= 1) {
            unsigned other = t ^ step;
            unsigned mine = s[t], theirs = s[other]; // expect: CP302@s
            bool low = (t & step) == 0, up = (t & size) == 0;
            s[t] = low == up ? min(mine, theirs) : max(mine, theirs); // also: CP302
        }
        __syncthreads();
    }
    key[blockIdx.x * 128 + t] = s[t];
}

// Neighbours exchanged through registers.
// run: block=64 grid=8 key=int[n] n=512
// cudaperf: block=64
__global__ void odd_even_shuffle(int *key, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x, lane = threadIdx.x & 31;
    int v = key[i];
    for (int round = 0; round < 16; ++round) {
        int o = __shfl_xor_sync(0xffffffffu, v, 1);
        v = lane & 1 ? max(v, o) : min(v, o);
        int l = __shfl_up_sync(0xffffffffu, v, 1), r = __shfl_down_sync(0xffffffffu, v, 1);
        if (lane & 1)
            v = lane < 31 ? min(v, r) : v;
        else
            v = lane > 0 ? max(v, l) : v;
    }
    key[i] = v;
}

// Sums of 64-bit keys by lanes, a group of eight each.
// run: block=256 grid=4 key=uint64_t[n] sum=uint64_t[128] n=1024
// cudaperf: block=256
__global__ void groups_of_eight(const uint64_t *key, uint64_t *sum, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    unsigned long long v = i < n ? key[i] : 0;
    v += __shfl_down_sync(0xffffffffu, v, 4, 8);
    v += __shfl_down_sync(0xffffffffu, v, 2, 8);
    v += __shfl_down_sync(0xffffffffu, v, 1, 8);
    if (threadIdx.x % 8 == 0)
        sum[i / 8] = v;
}

// The shuffle is reached by the lanes whose key is odd.
// run: block=256 grid=4 key=unsigned[n] out=unsigned[n]:zero n=1024
// cudaperf: block=256
__global__ void shuffle_by_key(const unsigned *key, unsigned *out, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    unsigned k = key[i];
    if (k & 1)
        out[i] = __shfl_sync(0xffffffffu, k, (threadIdx.x + 1) & 31); // expect: CP303
}

// run: block=256 grid=4 key=unsigned[n] out=unsigned[n]:zero n=1024
// cudaperf: block=256
__global__ void shuffle_then_by_key(const unsigned *key, unsigned *out, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    unsigned k = key[i];
    unsigned next = __shfl_sync(0xffffffffu, k, (threadIdx.x + 1) & 31);
    if (k & 1)
        out[i] = next;
}

// any/all in a branch that splits warps.
// run: block=128 grid=8 in=int[n]:below(9) out=int[n]:zero n=1024
// cudaperf: block=128
__global__ void all_in_split_branch(const int *in, int *out, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (in[i] > 3) {
        int every = __all_sync(0xffffffffu, in[i] > 5); // expect: CP303
        out[i] = every;
    }
}

// run: block=128 grid=8 in=int[n]:below(9) out=int[n]:zero n=1024
// cudaperf: block=128
__global__ void all_among_those_here(const int *in, int *out, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    unsigned those = __ballot_sync(0xffffffffu, in[i] > 3);
    if (in[i] > 3) {
        int every = __all_sync(those, in[i] > 5);
        out[i] = every;
    }
}
