// Elements that lie side by side, one thread's: each could move in one wider access.
#include <cuda_runtime.h>
#include <stdint.h>

// run: block=128 grid=4 a=float[2*n] b=float[2*n] c=float[2*n] n=500
// decides: CP103
__global__ void complex_multiply(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float ar = a[2 * i]; // also: CP101 // expect: CP103@a
    float ai = a[2 * i + 1]; // also: CP101; CP103
    float br = b[2 * i]; // also: CP101 // expect: CP103@b
    float bi = b[2 * i + 1]; // also: CP101; CP103
    c[2 * i] = ar * br - ai * bi; // also: CP101 // expect: CP103@c
    c[2 * i + 1] = ar * bi + ai * br; // also: CP101; CP103
}

// run: block=256 grid=4 pixel=float[4*n] gain=0.8 n=1000
// decides: CP103
__global__ void gain_four_channels(float *pixel, float gain, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float r = pixel[4 * i + 0]; // expect: CP101@pixel sectors=16 // expect: CP103@pixel
        float g = pixel[4 * i + 1]; // expect: CP101@pixel sectors=16 // also: CP103
        float b = pixel[4 * i + 2]; // expect: CP101@pixel sectors=16 // also: CP103
        float a = pixel[4 * i + 3]; // expect: CP101@pixel sectors=16 // also: CP103
        pixel[4 * i + 0] = gain * r; // expect: CP101@pixel sectors=16 // expect: CP103@pixel
        pixel[4 * i + 1] = gain * g; // expect: CP101@pixel sectors=16 // also: CP103
        pixel[4 * i + 2] = gain * b; // expect: CP101@pixel sectors=16 // also: CP103
        pixel[4 * i + 3] = a; // expect: CP101@pixel sectors=16 // also: CP103
    }
}

// Two doubles are sixteen bytes.
// run: block=128 grid=4 x=double[2*n] norm=double[n] n=500
// cudaperf: block=128
// decides: CP103
__global__ void norm_of_two_doubles(const double *x, double *norm, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const double first = x[2 * i]; // also: CP101 // expect: CP103@x
        const double second = x[2 * i + 1]; // also: CP101; CP103
        norm[i] = sqrt(first * first + second * second);
    }
}

// Left and right samples of sixteen bits.
// run: block=256 grid=8 pcm=int16_t[2*n] mono=int16_t[n] n=2000
// decides: CP103
__global__ void stereo_to_mono(const int16_t *pcm, int16_t *mono, int n)
{
    int frame = blockIdx.x * blockDim.x + threadIdx.x;
    if (frame >= n)
        return;
    int left = pcm[2 * frame]; // also: CP101 // expect: CP103@pcm
    int right = pcm[2 * frame + 1]; // also: CP101; CP103
    mono[frame] = (int16_t)((left + right) / 2);
}

void mix_down(const int16_t *pcm, int16_t *mono, int n)
{
    stereo_to_mono<<<(n + 255) / 256, 256>>>(pcm, mono, n);
}

// The pointer starts at the thread's own four.
// run: block=128 grid=4 quaternion=float[4*n] length=float[n] n=512
// cudaperf: block=128
// decides: CP103
__global__ void length_by_pointer(const float *quaternion, float *length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float *q = quaternion + 4 * i;
    float sum = q[0] * q[0]; // expect: CP101@q sectors=16 // expect: CP103@q
    sum += q[1] * q[1]; // expect: CP101@q sectors=16 // also: CP103
    sum += q[2] * q[2]; // expect: CP101@q sectors=16 // also: CP103
    sum += q[3] * q[3]; // expect: CP101@q sectors=16 // also: CP103
    length[i] = sqrtf(sum);
}

// The second first.
// run: block=128 grid=4 pair=int[2*n] swapped=int[2*n] n=512
// cudaperf: block=128
// decides: CP103
__global__ void swap_pairs(const int *pair, int *swapped, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int high = pair[2 * i + 1]; // also: CP101; CP103
        int low = pair[2 * i]; // also: CP101 // expect: CP103@pair
        swapped[2 * i + 1] = low; // also: CP101; CP103
        swapped[2 * i] = high; // also: CP101 // expect: CP103@swapped
    }
}

// Both in one expression.
// run: block=256 grid=4 interval=float[2*n] width=float[n] n=1000
// decides: CP103
__global__ void interval_width(const float *interval, float *width, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        width[i] = interval[2 * i + 1] - interval[2 * i]; // also: CP101 // expect: CP103@interval
}

void widths(const float *interval, float *width, int n)
{
    interval_width<<<(n + 255) / 256, 256>>>(interval, width, n);
}

// Over the whole grid, a pair a round.
// run: block=128 grid=4 points=float[2*n] angle=float[n] n=3000
// decides: CP103
__global__ void angles_in_stride(const float *points, float *angle, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float x = points[2 * i]; // also: CP101 // expect: CP103@points
        float y = points[2 * i + 1]; // also: CP101; CP103
        angle[i] = atan2f(y, x);
    }
}

// Eight bytes of shorts.
// run: block=128 grid=4 raw=uint16_t[4*n] sum=unsigned[n] n=512
// cudaperf: block=128
// decides: CP103
__global__ void sum_four_shorts(const uint16_t *raw, unsigned *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = raw[4 * i], b = raw[4 * i + 1]; // expect: CP101@raw sectors=8 // expect: CP103@raw
    unsigned c = raw[4 * i + 2], d = raw[4 * i + 3]; // expect: CP101@raw sectors=8 // also: CP103
    sum[i] = a + b + c + d;
}

// One index, four stores.
// run: block=128 grid=4 seed=unsigned[n] noise=float[4*n] n=500
// decides: CP103
__global__ void four_numbers_a_seed(const unsigned *seed, float *noise, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i * 4;
    if (i >= n)
        return;
    unsigned s = seed[i] * 1664525u + 1013904223u;
    noise[at] = s & 255; // expect: CP101@noise sectors=16 // expect: CP103@noise
    noise[at + 1] = (s >> 8) & 255; // expect: CP101@noise sectors=16 // also: CP103
    noise[at + 2] = (s >> 16) & 255; // expect: CP101@noise sectors=16 // also: CP103
    noise[at + 3] = s >> 24; // expect: CP101@noise sectors=16 // also: CP103
}

// Written as it is read, in place.
// run: block=128 grid=4 wave=float[2*n] n=500
// cudaperf: block=128
// decides: CP103
__global__ void conjugate_halves(float *wave, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        wave[2 * i] = 0.5f * wave[2 * i]; // also: CP101 // expect: CP103@wave
        wave[2 * i + 1] = -0.5f * wave[2 * i + 1]; // also: CP101; CP103
    }
}

// A row of the pairs each, the rows as long as the grid is wide.
// run: block=64 grid=4x3 field=float[2*256*3] energy=float[256*3]
// decides: CP103
__global__ void energy_of_rows(const float *field, float *energy)
{
    int c = blockIdx.x * 64 + threadIdx.x, r = blockIdx.y;
    float u = field[r * 512 + 2 * c]; // also: CP101 // expect: CP103@field
    float v = field[r * 512 + 2 * c + 1]; // also: CP101; CP103
    energy[r * 256 + c] = 0.5f * (u * u + v * v);
}

void energies(const float *field, float *energy)
{
    energy_of_rows<<<dim3(4, 3), 64>>>(field, energy);
}
