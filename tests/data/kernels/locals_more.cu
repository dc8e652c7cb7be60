// More arrays of a thread with an index of the run.
#include <cuda_runtime.h>

// A digit at a time, at most ten: the compiler may unroll the loop, and then every place is known.
// run: block=128 grid=4 number=unsigned[n] mirrored=unsigned[n] n=512
// decides: CP204
__global__ void mirror_digits(const unsigned *number, unsigned *mirrored, int n)
{
    unsigned digit[10]; // also: CP204@digit
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    if (i >= n)
        return;
    for (unsigned rest = number[i]; rest > 0 && count < 10; rest /= 10)
        digit[count++] = rest % 10; // also: CP204@digit
    unsigned result = 0;
    for (int k = 0; k < count; ++k)
        result = 10 * result + digit[k]; // also: CP204@digit
    mirrored[i] = result;
}

// run: block=128 grid=4 x=float[n] out=float[n] n=512 order=5
// cudaperf: block=128
// decides: CP204
__global__ void chebyshev_to_order(const float *x, float *out, int n, int order)
{
    float t[16]; // also: CP204
    float half[2];
    int i = blockIdx.x * 128 + threadIdx.x;
    half[0] = 0.5f * x[i];
    half[1] = 1.f - half[0];
    t[0] = 1.f;
    t[1] = half[0] + half[1];
    for (int k = 2; k <= order; ++k)
        t[k] = 2.f * half[0] * t[k - 1] - t[k - 2]; // expect: CP204@t
    out[i] = t[order]; // also: CP204
}

// The loop's length is known, where it starts is not.
// run: block=64 grid=4 shift=int[n]:below(8) in=float[n*8] out=float[n] n=256
// decides: CP204
__global__ void rotated_product(const int *shift, const float *in, float *out, int n)
{
    double a[8]; // also: CP204
    double b[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        a[k] = in[k * n + i];
        b[k] = a[k] * a[k];
    }
    double dot = 0.0;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        dot += a[(k + shift[i]) & 7] * b[k]; // expect: CP204@a
    out[i] = dot;
}

void rotated(const int *shift, const float *in, float *out, int n)
{
    rotated_product<<<(n + 63) / 64, 64>>>(shift, in, out, n);
}

// Bytes, too.
// run: block=128 grid=4 text=char[n*8] out=int[n] n=512
// cudaperf: block=128
// decides: CP204
__global__ void first_repeated_letter(const char *text, int *out, int n)
{
    unsigned char seen[64]; // also: CP204
    int i = blockIdx.x * 128 + threadIdx.x, first = -1;
#pragma unroll
    for (int k = 0; k < 64; ++k)
        seen[k] = 0;
    for (int k = 7; k >= 0; --k) {
        int letter = text[k * n + i] & 63;
        if (seen[letter]) // expect: CP204@seen
            first = k;
        seen[letter] = 1; // also: CP204
    }
    out[i] = first;
}

// Segments of a line: the one that a value falls into.
// run: block=256 grid=2 knot=float[12] x=float[n] out=float[n] n=512
// decides: CP204
__global__ void piecewise_line(const float *knot, const float *x, float *out, int n)
{
    double level[12]; // also: CP204
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
#pragma unroll
    for (int k = 0; k < 12; ++k)
        level[k] = 1.5f * knot[k];
    float at = x[i] * 10.f;
    int cell = min((int)at, 10);
    out[i] = level[cell] + (at - cell) * (level[cell + 1] - level[cell]); // expect: CP204@level
}

void lines(const float *knot, const float *x, float *out, int n)
{
    piecewise_line<<<(n + 255) / 256, 256>>>(knot, x, out, n);
}

// Gauss with a pivot: rows are swapped by a number found at run time.
// run: block=32 grid=4 m=double[16*n] det=double[n] n=128
// cudaperf: block=32
// decides: CP204
__global__ void determinant_with_pivot(const double *m, double *det, int n)
{
    double a[4][4]; // also: CP204
    double diagonal[4];
    int i = blockIdx.x * 32 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 16; ++k)
        a[k / 4][k % 4] = m[k * n + i];
    double sign = 1.0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        int pivot = k;
#pragma unroll
        for (int r = k + 1; r < 4; ++r)
            if (fabs(a[r][k]) > fabs(a[pivot][k])) // expect: CP204@a
                pivot = r;
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            double swap = a[k][c];
            a[k][c] = a[pivot][c]; // also: CP204
            a[pivot][c] = swap; // also: CP204
        }
        sign = pivot == k ? sign : -sign;
        diagonal[k] = a[k][k];
#pragma unroll
        for (int r = k + 1; r < 4; ++r)
#pragma unroll
            for (int c = 0; c < 4; ++c)
                a[r][c] -= a[r][k] / diagonal[k] * a[k][c];
    }
    det[i] = sign * diagonal[0] * diagonal[1] * diagonal[2] * diagonal[3];
}

// A queue: tail and head both move.
// run: block=64 grid=4 cost=int[n*4] out=int[n] n=256
// cudaperf: block=64
// decides: CP204
__global__ void breadth_first_costs(const int *cost, int *out, int n)
{
    int queue[32]; // also: CP204
    int weight[4];
    int i = blockIdx.x * 64 + threadIdx.x, head = 0, tail = 1, sum = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k)
        weight[k] = cost[k * n + i];
    queue[0] = 1;
    while (head < tail) {
        int node = queue[head++]; // also: CP204
        sum += node % 3 == 0 ? weight[0] : node % 3 == 1 ? weight[1] + weight[3] : weight[2];
        if (2 * node < 32)
            queue[tail++] = 2 * node; // expect: CP204@queue
        if (2 * node + 1 < 32)
            queue[tail++] = 2 * node + 1; // also: CP204
    }
    out[i] = sum;
}

// A table of constants is an array of each thread all the same.
// run: block=128 grid=4 kind=int[n]:below(8) in=float[n] out=float[n] n=512
// decides: CP204
__global__ void gain_from_constants(const int *kind, const float *in, float *out, int n)
{
    const float gain[8] = {0.1f, 0.2f, 0.4f, 0.8f, 1.6f, 3.2f, 6.4f, 12.8f}; // also: CP204
    const double offset[6] = {0.5, 1.5, 2.25, 3.125, 4.0625, 5.03125}; // also: CP204
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = gain[kind[i] & 7] * in[i] + (float)offset[kind[i] % 6]; // expect: CP204@gain; CP204@offset
}
