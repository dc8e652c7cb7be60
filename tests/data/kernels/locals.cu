// Arrays of a thread with an index that only the run knows: they go to local memory.
#include <cuda_runtime.h>

// run: block=128 grid=4 in=int[n]:below(16) out=double[n] n=512
// decides: CP204
__global__ void private_histogram(const int *in, double *out, int n)
{
    double bin[16] = {0.0}; // also: CP204
    int first[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < 4; ++k)
        first[k] = in[(i + k) % n];
    for (int k = 0; k < n; k += 37)
        bin[in[(i + k) % n] & 15] += k & 1 ? first[1] : first[0]; // expect: CP204@bin // silent: CP101
    double most = 0.0;
#pragma unroll
    for (int b = 0; b < 16; ++b)
        most = fmax(most, bin[b]);
    out[i] = most + first[2] + first[3];
}

// Insertion: how far depends on the values.
// run: block=128 grid=4 in=float[9*n] median=float[n] n=500 count=9
// decides: CP204
__global__ void median_by_insertion(const float *in, float *median, int n, int count)
{
    float v[16]; // also: CP204
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < count; ++k) {
        float x = in[k * n + i];
        int at = k;
        while (at > 0 && v[at - 1] > x) { // expect: CP204@v
            v[at] = v[at - 1]; // also: CP204
            --at;
        }
        v[at] = x; // also: CP204
    }
    median[i] = v[count / 2]; // also: CP204
}

void medians(const float *in, float *median, int n)
{
    median_by_insertion<<<(n + 127) / 128, 128>>>(in, median, n, 15);
}

// How many there are is a parameter.
// run: block=64 grid=4 in=float[n*16] out=float[n] n=256 taps=9
// decides: CP204
__global__ void window_of_any_length(const float *in, float *out, int n, int taps)
{
    float window[16]; // also: CP204
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < taps; ++k)
        window[k] = in[k * n + i]; // expect: CP204@window
    float sum = 0.f;
    for (int k = 0; k < taps; ++k)
        sum += window[k] * window[taps - 1 - k]; // also: CP204
    out[i] = sum;
}

// A stack, and where its top is.
// run: block=128 grid=2 tree=int[n]:below(1000) found=int[256] n=1000
// cudaperf: block=128
// decides: CP204
__global__ void walk_with_stack(const int *tree, int *found, int n)
{
    int stack[24]; // also: CP204
    int top = 0, hits = 0, i = blockIdx.x * 128 + threadIdx.x;
    stack[top++] = i % n; // also: CP204
    while (top > 0 && hits < 100) {
        int node = stack[--top]; // also: CP204
        ++hits;
        int child = 2 * node + 1;
        if (child < n && tree[child] > 200 && top < 23) // silent: CP101
            stack[top++] = child; // expect: CP204@stack
        if (child + 1 < n && tree[child + 1] > 400 && top < 23) // silent: CP101
            stack[top++] = child + 1; // also: CP204
    }
    found[i] = hits;
}

// By the thread's number.
// run: block=128 grid=4 a=float[n] b=float[n] c=float[n] out=float[n] n=512
// cudaperf: block=128
// decides: CP204
__global__ void choose_by_lane(const float *a, const float *b, const float *c, float *out, int n)
{
    double kind[20]; // also: CP204
    float pair[2];
    int i = blockIdx.x * 128 + threadIdx.x;
    pair[0] = a[i];
    pair[1] = b[i];
#pragma unroll
    for (int k = 0; k < 20; ++k)
        kind[k] = pair[0] * k + pair[1] * c[i];
    out[i] = kind[threadIdx.x % 20]; // expect: CP204@kind
}

// A ring whose head moves with the data.
// run: block=64 grid=4 in=float[n*40] out=float[n] n=256 lag=5
// decides: CP204
__global__ void delay_line(const float *in, float *out, int n, int lag)
{
    float ring[32]; // also: CP204
    int i = blockIdx.x * blockDim.x + threadIdx.x, head = 0;
    if (i >= n)
        return;
#pragma unroll
    for (int k = 0; k < 32; ++k)
        ring[k] = 0.f;
    float sum = 0.f;
    for (int k = 0; k < 40; ++k) {
        ring[head] = in[k * n + i]; // expect: CP204@ring
        head = (head + lag) & 31;
        sum += ring[head]; // also: CP204
    }
    out[i] = sum;
}

void delays(const float *in, float *out, int n)
{
    delay_line<<<(n + 63) / 64, 64>>>(in, out, n, 7);
}

// Two dimensions, one of them at run time.
// run: block=128 grid=4 species=int[n]:below(5) x=float[n] out=float[n] n=512
// decides: CP204
__global__ void interaction_table(const int *species, const float *x, float *out, int n)
{
    double table[5][5]; // also: CP204
    float unit[3];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unit[0] = x[i];
    unit[1] = unit[0] * unit[0];
    unit[2] = unit[1] * unit[0];
#pragma unroll
    for (int r = 0; r < 5; ++r)
#pragma unroll
        for (int c = 0; c < 5; ++c)
            table[r][c] = unit[0] * r + unit[1] * c + unit[2];
    out[i] = table[species[i] % 5][2] + table[1][species[i] % 5]; // expect: CP204@table
}

// Vectors of three in an array, so few that the compiler may select among them instead.
// run: block=128 grid=4 axis=int[n]:below(6) p=float3[n] out=float[n] n=512
// cudaperf: block=128
// decides: CP204
__global__ void project_on_face(const int *axis, const float3 *p, float *out, int n)
{
    float3 face[6]; // also: CP204@face
    int i = blockIdx.x * 128 + threadIdx.x;
    float3 q = p[i]; // also: CP101
#pragma unroll
    for (int k = 0; k < 6; ++k)
        face[k] = make_float3(q.x + k, q.y - k, q.z * k);
    float3 f = face[axis[i] % 6]; // also: CP204@face
    out[i] = f.x * q.x + f.y * q.y + f.z * q.z;
}

// The index is masked, and still known to nobody.
// run: block=256 grid=2 seed=unsigned[n] out=unsigned[n] n=512
// decides: CP204
__global__ void lagged_generator(const unsigned *seed, unsigned *out, int n)
{
    unsigned state[16]; // also: CP204
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned s = seed[i] + 1;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        s = s * 1664525u + 1013904223u;
        state[k] = s;
    }
    for (int k = 0; k < 50; ++k)
        state[s & 15] ^= s = s * 69069u + state[(s >> 8) & 15]; // expect: CP204@state
    out[i] = s;
}

// Two arrays of one length: what is found is swapped to the front of both.
// run: block=64 grid=4 score=float[n*12] best=int[n] n=256 keep=3
// decides: CP204
__global__ void best_of_twelve(const float *score, int *best, int n, int keep)
{
    float value[12]; // also: CP204
    int place[12]; // also: CP204
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
#pragma unroll
    for (int k = 0; k < 12; ++k) {
        value[k] = score[k * n + i];
        place[k] = k;
    }
    for (int round = 0; round < keep; ++round) {
        int top = round;
        for (int k = round + 1; k < 12; ++k)
            if (value[k] > value[top]) // expect: CP204@value
                top = k;
        float v = value[round]; // also: CP204
        value[round] = value[top]; // also: CP204
        value[top] = v; // also: CP204
        int p = place[round]; // also: CP204
        place[round] = place[top]; // expect: CP204@place
        place[top] = p; // also: CP204
    }
    best[i] = place[0] + 100 * place[keep - 1]; // also: CP204
}

void best(const float *score, int *out, int n, int keep)
{
    best_of_twelve<<<(n + 63) / 64, 64>>>(score, out, n, keep);
}
