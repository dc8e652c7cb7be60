// Rays, warps of images, and morphology.
#include <cuda_runtime.h>
#include <stdint.h>

struct Sphere {
    float3 centre;
    float radius;
    float3 colour;
    int material;
};

struct Hit {
    float distance;
    int sphere;
};

static __device__ bool intersect(const Sphere &s, float dx, float dy, Hit &hit, int index)
{
    float b = dx * s.centre.x + dy * s.centre.y + s.centre.z;
    float c = s.centre.x * s.centre.x + s.centre.y * s.centre.y + s.centre.z * s.centre.z - s.radius * s.radius;
    float root = b * b - c;
    if (root < 0.f || b - sqrtf(root) >= hit.distance)
        return false;
    hit.distance = b - sqrtf(root);
    hit.sphere = index;
    return true;
}

// All rays look at one sphere at a time.
// run: block=32x8 grid=2x8 spheres=Sphere[count] depth=float[w*h] w=64 h=60 count=20
// cudaperf: block=32x8
__global__ void cast_rays(const Sphere *spheres, float *depth, int w, int h, int count)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h)
        return;
    Hit hit = {1e30f, -1};
    for (int k = 0; k < count; ++k)
        intersect(spheres[k], (px - 0.5f * w) / w, (py - 0.5f * h) / h, hit, k);
    depth[py * w + px] = hit.distance;
}

// A thread prepares a sphere, field by field.
// run: block=64 grid=4 spheres=Sphere[count] reach=float[count] count=250
__global__ void sphere_reach(const Sphere *spheres, float *reach, int count)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) {
        float z = spheres[k].centre.z; // expect: CP101@spheres sectors=32
        float radius = spheres[k].radius; // expect: CP101@spheres sectors=32
        reach[k] = z + radius;
    }
}

// run: block=32x8 grid=2x8 density=float[64*64*64] image=float[w*h] w=64 h=60
// cudaperf: block=32x8
__global__ void march_volume(const float *density, float *image, int w, int h)
{
    int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y;
    if (px >= w || py >= h)
        return;
    float light = 1.f;
    for (int z = 0; z < 64 && light > 0.01f; ++z)
        light *= 1.f - 0.1f * density[(z * 64 + py) * 64 + px];
    image[py * w + px] = 1.f - light;
}

// run: block=32x8 grid=2x8 src=float[w*h] dst=float[w*h] w=64 h=60 angle=0.7
// cudaperf: block=32x8
__global__ void rotate_by_angle(const float *src, float *dst, int w, int h, float angle)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float c = cosf(angle), s = sinf(angle);
    int u = (int)(c * x - s * y), v = (int)(s * x + c * y);
    bool inside = u >= 0 && v >= 0 && u < w && v < h;
    dst[y * w + x] = inside ? src[v * w + u] : 0.f; // silent: CP101
}

// run: block=32x8 grid=2x8 src=float[w*h] dst=float[w*h] w=64 h=60
// cudaperf: block=32x8
__global__ void quarter_turn(const float *src, float *dst, int w, int h)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < w && y < h)
        dst[x * h + (h - 1 - y)] = src[y * w + x]; // expect: CP101@dst sectors=32
}

// run: block=256 grid=8 rgb=uint8_t[3*n] r=uint8_t[n] g=uint8_t[n] b=uint8_t[n] n=2000
__global__ void split_planes(const uint8_t *rgb, uint8_t *r, uint8_t *g, uint8_t *b, int n)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    r[p] = rgb[3 * p]; // expect: CP101@rgb
    g[p] = rgb[3 * p + 1]; // expect: CP101@rgb
    b[p] = rgb[3 * p + 2]; // expect: CP101@rgb
}

// Rows of bytes pass through shared memory, so that only whole words are loaded.
// run: block=256 grid=8 rgb=unsigned[1536] grey=uint8_t[2048]
// cudaperf: block=256
__global__ void grey_of_staged_rows(const unsigned *rgb, uint8_t *grey)
{
    __shared__ unsigned words[192];
    const int t = threadIdx.x;
    if (t < 192)
        words[t] = rgb[blockIdx.x * 192 + t];
    __syncthreads();
    const uint8_t *bytes = reinterpret_cast<const uint8_t *>(words);
    grey[blockIdx.x * 256 + t] = (uint8_t)((bytes[3 * t] + 2 * bytes[3 * t + 1] + bytes[3 * t + 2]) >> 2);
}

// The largest of three rows; the halo is loaded, the barrier forgotten.
// run: block=32x8 grid=2x8 in=float[w*h] out=float[w*h] w=64 h=60
// cudaperf: block=32x8
__global__ void dilate_rows(const float *in, float *out, int w, int h)
{
    __shared__ float s[10][32];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
    x = min(x, w - 1);
    s[ty + 1][tx] = in[min(y, h - 1) * w + x]; // also: CP302
    if (ty == 0)
        s[0][tx] = in[min(max(y - 1, 0), h - 1) * w + x]; // also: CP302
    if (ty == 7)
        s[9][tx] = in[min(y + 1, h - 1) * w + x]; // also: CP302
    float most = fmaxf(s[ty][tx], fmaxf(s[ty + 1][tx], s[ty + 2][tx])); // expect: CP302@s
    if (y < h && blockIdx.x * 32 + tx < w)
        out[y * w + x] = most;
}

// run: block=32x8 grid=2x8 in=float[w*h] out=float[w*h] w=64 h=60
// cudaperf: block=32x8
__global__ void erode_rows(const float *in, float *out, int w, int h)
{
    __shared__ float s[10][32];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
    int cx = min(x, w - 1);
    s[ty + 1][tx] = in[min(y, h - 1) * w + cx];
    int edge = (int)blockIdx.y * 8 - 1 + 9 * ty;
    if (ty < 2)
        s[9 * ty][tx] = in[min(max(edge, 0), h - 1) * w + cx];
    __syncthreads();
    if (x >= w || y >= h)
        return;
    out[y * w + x] = fminf(s[ty][tx], fminf(s[ty + 1][tx], s[ty + 2][tx]));
}

#define ORDER(a, b) { float low_ = fminf(a, b); b = fmaxf(a, b); a = low_; }

// A sorting network of five, in registers.
// run: block=32x8 grid=2x8 in=float[w*h] out=float[w*h] w=64 h=60
// cudaperf: block=32x8
__global__ void median_of_cross(const float *in, float *out, int w, int h)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
        return;
    const float *p = in + y * w + x;
    float a = p[0], b = p[-1], c = p[1], d = p[-w], e = p[w];
    ORDER(a, b) ORDER(c, d) ORDER(a, c) ORDER(b, d) ORDER(b, e) ORDER(c, e) ORDER(b, c)
    out[y * w + x] = c;
}

// A row's running sum is a thread's.
// run: block=64 grid=1 image=float[w*h] w=64 h=60
__global__ void integrate_rows(float *image, int w, int h)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h)
        return;
    float sum = 0.f;
    for (int x = 0; x < w; ++x) {
        sum += image[y * w + x]; // expect: CP101@image sectors=32
        image[y * w + x] = sum; // expect: CP101@image sectors=32
    }
}

// run: block=64 grid=1 image=float[w*h] w=64 h=60
__global__ void integrate_columns(float *image, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w)
        return;
    float sum = 0.f;
    for (int y = 0; y < h; ++y) {
        sum += image[y * w + x];
        image[y * w + x] = sum;
    }
}

void integrate(float *image, int w, int h)
{
    integrate_rows<<<(h + 63) / 64, 64>>>(image, w, h);
    integrate_columns<<<(w + 63) / 64, 64>>>(image, w, h);
}

// Fragments of one pixel fight for it.
// run: block=128 grid=8 pixel=int[n]:below(m) z=float[n] depth=float[m]:fill(1) n=1000 m=300
__global__ void depth_test(const int *pixel, const float *z, float *depth, int n, int m)
{
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= n || pixel[f] >= m)
        return;
    if (z[f] < depth[pixel[f]]) // silent: CP101
        depth[pixel[f]] = z[f]; // expect: CP305@depth // silent: CP101
}

// run: block=128 grid=8 pixel=int[n]:below(m) z=float[n] depth=unsigned[m]:fill(2000000000) n=1000 m=300
__global__ void depth_test_atomic(const int *pixel, const float *z, unsigned *depth, int n, int m)
{
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= n || pixel[f] >= m)
        return;
    atomicMin(&depth[pixel[f]], __float_as_uint(z[f])); // silent: CP101
}

// Distance to the nearest set pixel of the row: border pixels are done at once and leave.
// run: block=128 grid=60 mask=uint8_t[128*60]:below(2) distance=int[128*60]
// cudaperf: block=128
__global__ void row_distance(const uint8_t *mask, int *distance)
{
    __shared__ int near[128];
    int x = threadIdx.x, at = blockIdx.x * 128 + x;
    near[x] = mask[at] ? 0 : 1000;
    if (x == 0 || x == 127) {
        distance[at] = near[x];
        return; // expect: CP306
    }
    for (int step = 1; step < 8; ++step) {
        __syncthreads(); // also: CP306
        int best = min(near[x], min(near[x - 1], near[x + 1]) + 1);
        __syncthreads(); // also: CP306
        near[x] = best;
    }
    distance[at] = near[x];
}
