// Images: bytes, channels, convolutions.
#include <cuda_runtime.h>
#include <stdint.h>

#define KERNEL_RADIUS 2
#define KERNEL_SIZE (2 * KERNEL_RADIUS + 1)

__constant__ float gauss[KERNEL_SIZE] = {0.06f, 0.24f, 0.4f, 0.24f, 0.06f};

// run: block=32x8 grid=4x16 src=uint8_t[width*height] dst=uint8_t[width*height] width=128 height=120 level=90
// cudaperf: block=32x8
__global__ void threshold(const uint8_t *src, uint8_t *dst, int width, int height, int level)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int at = y * width + x;
    dst[at] = src[at] > level ? 255 : 0;
}

// run: block=32x8 grid=4x16 src=float[width*height] dst=float[width*height] width=128 height=120
// cudaperf: block=32x8
// decides: CP105
__global__ void convolve_rows(const float *src, float *dst, int width, int height)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (y >= height)
        return;
    const float *line = src + y * width;
    float sum = 0.f;
    for (int k = -KERNEL_RADIUS; k <= KERNEL_RADIUS; ++k) {
        int at = min(max(x + k, 0), width - 1);
        sum += gauss[k + KERNEL_RADIUS] * line[at];
    }
    dst[y * width + x] = sum;
}

// One thread a row of the picture.
// run: block=64 grid=2 src=float[width*height] dst=float[width*height] width=128 height=120
__global__ void convolve_row_per_thread(const float *src, float *dst, int width, int height)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= height)
        return;
    for (int x = KERNEL_RADIUS; x < width - KERNEL_RADIUS; ++x) {
        float sum = 0.f;
        for (int k = -KERNEL_RADIUS; k <= KERNEL_RADIUS; ++k)
            sum += gauss[k + KERNEL_RADIUS] * src[y * width + x + k]; // expect: CP101@src sectors=32
        dst[y * width + x] = sum; // expect: CP101@dst sectors=32
    }
}

void convolve(const float *src, float *dst, int width, int height)
{
    convolve_row_per_thread<<<(height + 63) / 64, 64>>>(src, dst, width, height);
}

// Planes one after another: each is coalesced.
// run: block=256 grid=16 planar=float[3*n] grey=float[n] n=4000
// decides: CP103
__global__ void grey_of_planes(const float *planar, float *grey, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        grey[i] = 0.3f * planar[i] + 0.59f * planar[i + n] + 0.11f * planar[i + 2 * n];
}

// Interleaved floats, three to a pixel.
// run: block=256 grid=16 rgb=float[3*n] grey=float[n] n=4000
// decides: CP103
__global__ void grey_of_interleaved(const float *rgb, float *grey, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float r = rgb[3 * i]; // expect: CP101@rgb sectors=12
        float g = rgb[3 * i + 1]; // expect: CP101@rgb sectors=12
        float b = rgb[3 * i + 2]; // expect: CP101@rgb sectors=12
        grey[i] = 0.3f * r + 0.59f * g + 0.11f * b;
    }
}

void grey(const float *planar, const float *rgb, float *out, int n)
{
    grey_of_planes<<<(n + 255) / 256, 256>>>(planar, out, n);
    grey_of_interleaved<<<(n + 255) / 256, 256>>>(rgb, out, n);
}

// Rows in shared memory with their borders; the columns' pass reads down a column of threads.
// run: block=32x8 grid=4x15 src=float[width*height] dst=float[width*height] width=128 height=120
// cudaperf: block=32x8
// decides: CP304
__global__ void convolve_columns_shared(const float *src, float *dst, int width, int height)
{
    __shared__ float s[8 + 2 * KERNEL_RADIUS][32];
    int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 8 - KERNEL_RADIUS;
    for (int r = threadIdx.y; r < 8 + 2 * KERNEL_RADIUS; r += 8) {
        int y = min(max(y0 + r, 0), height - 1);
        s[r][threadIdx.x] = src[y * width + x];
    }
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < KERNEL_SIZE; ++k)
        sum += gauss[k] * s[threadIdx.y + k][threadIdx.x];
    dst[(y0 + KERNEL_RADIUS + threadIdx.y) * width + x] = sum;
}

// Turned by ninety degrees.
// run: block=32x8 grid=4x16 src=float[width*height] dst=float[width*height] width=128 height=128
// cudaperf: block=32x8
__global__ void rotate_right(const float *src, float *dst, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        dst[x * height + (height - 1 - y)] = src[y * width + x]; // expect: CP101@dst sectors=32
}

// run: block=32x8 grid=4x16 src=float[width*height] dst=float[width*height] width=128 height=128
// cudaperf: block=32x8
__global__ void flip_both(const float *src, float *dst, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        dst[(height - 1 - y) * width + (width - 1 - x)] = src[y * width + x];
}

// Half the size in each direction.
// run: block=32x8 grid=2x8 src=float[4*w*h] dst=float[w*h] w=64 h=64
// cudaperf: block=32x8
__global__ void shrink_by_four(const float *src, float *dst, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        const float2 *top = reinterpret_cast<const float2 *>(src + 2 * y * 2 * w);
        const float2 *bottom = reinterpret_cast<const float2 *>(src + (2 * y + 1) * 2 * w);
        float2 a = top[x], b = bottom[x];
        dst[y * w + x] = 0.25f * (a.x + a.y + b.x + b.y);
    }
}

// run: block=32x8 grid=2x8 labels=int[w*h]:below(2) area=int[1]:zero w=64 h=64
// cudaperf: block=32x8
__global__ void count_area(const int *labels, int *area, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    bool set = x < w && y < h && labels[y * w + x];
    unsigned votes = __ballot_sync(0xffffffffu, set);
    if (threadIdx.x == 0)
        atomicAdd(area, __popc(votes));
}
