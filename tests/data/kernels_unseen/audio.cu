// Filters, transforms and dynamics of sampled sound.
#include <cuda_runtime.h>
#include <stdint.h>

namespace audio {
constexpr int kHop = 64;
constexpr int kFrame = 256;
constexpr float kPi = 3.14159265358979f;

__device__ __forceinline__ float2 times(const float2 &a, const float2 &b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__device__ __forceinline__ float2 twiddle(int k, int n)
{
    float2 w;
    __sincosf(-2.f * kPi * k / n, &w.y, &w.x);
    return w;
}
} // namespace audio

// Bits reversed where they are stored: neighbouring lanes are half an array apart, then a quarter.
// run: block=128 grid=4 signal=float2[1024] spectrum=float2[1024]
// cudaperf: block=128
__global__ void fft_reversed_stores(const float2 *signal, float2 *spectrum)
{
    __shared__ float2 s[256];
    const int t = threadIdx.x, base = blockIdx.x * 256;
    s[__brev(t) >> 24] = signal[base + t]; // expect: CP102@s
    s[__brev(t + 128) >> 24] = signal[base + t + 128]; // expect: CP102@s
    for (int half = 1; half < 256; half *= 2) {
        __syncthreads();
        const int k = t % half, at = 2 * (t - k) + k;
        const float2 a = s[at]; // also: CP102
        const float2 b = audio::times(s[at + half], audio::twiddle(k, 2 * half)); // also: CP102
        s[at] = make_float2(a.x + b.x, a.y + b.y); // also: CP102
        s[at + half] = make_float2(a.x - b.x, a.y - b.y); // also: CP102
    }
    __syncthreads();
    spectrum[base + t] = s[t];
    spectrum[base + t + 128] = s[t + 128];
}

// The other way to reverse: the loads jump.
// run: block=128 grid=4 signal=float2[1024] spectrum=float2[1024]
// cudaperf: block=128
__global__ void fft_reversed_loads(const float2 *signal, float2 *spectrum)
{
    __shared__ float2 s[256];
    const int t = threadIdx.x, base = blockIdx.x * 256;
    for (int j = t; j < 256; j += 128)
        s[j] = signal[base + (__brev(j) >> 24)]; // expect: CP101@signal sectors=32
    for (int half = 1; half < 256; half *= 2) {
        __syncthreads();
        const int k = t % half, at = 2 * (t - k) + k;
        const float2 a = s[at]; // also: CP102
        const float2 b = audio::times(s[at + half], audio::twiddle(k, 2 * half)); // also: CP102
        s[at] = make_float2(a.x + b.x, a.y + b.y); // also: CP102
        s[at + half] = make_float2(a.x - b.x, a.y - b.y); // also: CP102
    }
    __syncthreads();
    for (int j = t; j < 256; j += 128)
        spectrum[base + j] = s[j];
}

// run: block=128 grid=2 as=decimate<4,8> in=float[n] taps=float[8] out=float[n] n=1000
template <int Factor, int Taps>
__global__ void decimate(const float *in, const float *taps, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * Factor + Taps > n)
        return;
    float sum = 0.f;
#pragma unroll 1
    for (int k = 0; k < Taps; ++k)
        sum += taps[k] * in[i * Factor + k]; // expect: CP101@in sectors=16
    out[i] = sum;
}

void decimate_by_four(const float *in, const float *taps, float *out, int n)
{
    decimate<4, 8><<<(n / 4 + 127) / 128, 128>>>(in, taps, out, n);
}

// Six channels in turn, and the centre one is wanted.
// run: block=256 grid=4 frames=int16_t[n*6] centre=float[n] n=1000
__global__ void extract_centre(const int16_t *frames, float *centre, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        centre[i] = frames[6 * i + 2] / 32768.f; // expect: CP101@frames sectors=12
}

// run: block=256 grid=4 frames=short2[n] mid=float[n] side=float[n] n=1000
__global__ void mid_and_side(const short2 *frames, float *mid, float *side, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        short2 f = frames[i];
        mid[i] = (f.x + f.y) / 65536.f;
        side[i] = (f.x - f.y) / 65536.f;
    }
}

struct Biquad {
    float b0, b1, b2, a1, a2;
};

// A thread has a channel, a channel lies in one piece.
// run: block=64 grid=4 x=float[channels*samples] y=float[channels*samples] channels=256 samples=100
__global__ void biquad_planar(const float *x, float *y, int channels, int samples)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels)
        return;
    const Biquad f = {0.2f, 0.4f, 0.2f, -0.5f, 0.3f};
    float z1 = 0.f, z2 = 0.f;
    for (int s = 0; s < samples; ++s) {
        float v = x[c * samples + s]; // expect: CP101@x sectors=32
        float o = f.b0 * v + z1;
        z1 = f.b1 * v - f.a1 * o + z2;
        z2 = f.b2 * v - f.a2 * o;
        y[c * samples + s] = o; // expect: CP101@y sectors=32
    }
}

// run: block=64 grid=4 x=float[channels*samples] y=float[channels*samples] channels=256 samples=100
__global__ void biquad_interleaved(const float *x, float *y, int channels, int samples)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels)
        return;
    const Biquad f = {0.2f, 0.4f, 0.2f, -0.5f, 0.3f};
    float z1 = 0.f, z2 = 0.f;
    for (int s = 0; s < samples; ++s, x += channels, y += channels) {
        float v = x[c];
        float o = f.b0 * v + z1;
        z1 = f.b1 * v - f.a1 * o + z2;
        z2 = f.b2 * v - f.a2 * o;
        y[c] = o;
    }
}

// Everybody lifts the peak, nobody waits for the others.
// run: block=256 grid=4 in=float[n] out=float[n] n=1000
__global__ void normalize_frame(const float *in, float *out, int n)
{
    __shared__ float peak;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i < n ? in[i] : 0.f;
    if (threadIdx.x == 0)
        peak = 1e-9f;
    __syncthreads();
    peak = fmaxf(peak, fabsf(x)); // expect: CP305/CP302@peak
    __syncthreads();
    if (i < n)
        out[i] = x / peak;
}

// Positive floats compare like integers.
// run: block=256 grid=4 in=float[n] out=float[n] n=1000
__global__ void normalize_frame_by_bits(const float *in, float *out, int n)
{
    __shared__ int peak;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i < n ? in[i] : 0.f;
    if (threadIdx.x == 0)
        peak = __float_as_int(1e-9f);
    __syncthreads();
    atomicMax(&peak, __float_as_int(fabsf(x)));
    __syncthreads();
    if (i < n)
        out[i] = x / __int_as_float(peak);
}

// run: block=128 grid=8 in=float[n] out=float[n] n=1000 threshold=0.5
__global__ void noise_gate(const float *in, float *out, int n, float threshold)
{
    __shared__ float level[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float x = i < n ? in[i] : 0.f;
    level[t] = x; // also: CP302
    if (x > threshold) {
        __syncthreads(); // expect: CP301
        float around = level[t > 0 ? t - 1 : 0]; // also: CP302; CP303
        x = 0.5f * (x + around);
    }
    if (i < n)
        out[i] = x;
}

void dynamics(const float *in, float *out, int n)
{
    int blocks = (n + 255) / 256;
    normalize_frame<<<blocks, 256>>>(in, out, n);
    normalize_frame_by_bits<<<blocks, 256>>>(in, out, n);
    noise_gate<<<blocks, 256>>>(in, out, n, 0.01f);
}

// A frame to a block; four frames cover each sample.
// run: block=256 grid=16 frames=float[4096] out=float[1216]:zero
// cudaperf: block=256
__global__ void overlap_add(const float *frames, float *out)
{
    using namespace audio;
    float window = 0.5f - 0.5f * __cosf(2.f * kPi * threadIdx.x / kFrame);
    out[blockIdx.x * kHop + threadIdx.x] += window * frames[blockIdx.x * kFrame + threadIdx.x]; // expect: CP305@out
}

// run: block=256 grid=16 frames=float[4096] out=float[1216]:zero
// cudaperf: block=256
__global__ void overlap_add_atomically(const float *frames, float *out)
{
    using namespace audio;
    float window = 0.5f - 0.5f * __cosf(2.f * kPi * threadIdx.x / kFrame);
    atomicAdd(out + blockIdx.x * kHop + threadIdx.x, window * frames[blockIdx.x * kFrame + threadIdx.x]);
}

// The same sum, taken by the sample.
// run: block=256 grid=5 frames=float[4096] out=float[1216]
__global__ void overlap_gather(const float *frames, float *out)
{
    int sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= 15 * audio::kHop + audio::kFrame)
        return;
    float sum = 0.f;
    for (int f = 0; f < 16; ++f) {
        int at = sample - f * audio::kHop;
        if (at >= 0 && at < audio::kFrame)
            sum += frames[f * audio::kFrame + at];
    }
    out[sample] = sum;
}

// Time and frequency change places; doubles, a column of padding.
// run: block=32x8 grid=2x2 in=double[4096] out=double[4096]
// cudaperf: block=32x8
__global__ void spectrogram_turned(const double *in, double *out)
{
    __shared__ double tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * 64 + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[(y + j) * 64 + x] = tile[threadIdx.x][threadIdx.y + j];
}

// run: block=32x8 grid=2x2 in=double[4096] out=double[4096]
// cudaperf: block=32x8
__global__ void spectrogram_turned_unpadded(const double *in, double *out)
{
    __shared__ double tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * 64 + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[(y + j) * 64 + x] = tile[threadIdx.x][threadIdx.y + j]; // expect: CP102@tile
}

// Silence needs no filter, so its threads are sent home.
// run: block=128 grid=8 in=float[n] out=float[n]:zero n=1024 floor=0.3
__global__ void filter_but_silence(const float *in, float *out, int n, float floor)
{
    __shared__ float s[1024];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    const float x = i < n ? in[i] : 0.f;
    s[t] = x;
    if (fabsf(x) < floor)
        return; // expect: CP306
    __syncthreads(); // also: CP306
    const float before = t > 0 ? s[t - 1] : x;
    out[i] = 0.5f * (x + before);
}
