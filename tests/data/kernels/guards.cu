// Bounds checks of every style; some stand before a barrier.
#include <cuda_runtime.h>
#include <math.h>

// run: block=256 grid=8 x=float[n] y=float[n] n=2000
__global__ void relu(const float *x, float *y, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    y[i] = x[i] > 0.f ? x[i] : 0.f;
}

// run: block=256 grid=8 x=float[n] grad=float[n] m=float[n] v=float[n] n=2000 lr=0.001
// decides: CP201 CP202 CP203
__global__ void adam_step(float *x, const float *grad, float *m, float *v, int n, float lr)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const float g = grad[i];
    m[i] = 0.9f * m[i] + 0.1f * g;
    v[i] = 0.999f * v[i] + 0.001f * g * g;
    x[i] -= lr * m[i] / (sqrtf(v[i]) + 1e-8f);
}

void optimizer(float *x, const float *grad, float *m, float *v, int n)
{
    adam_step<<<(n + 255) / 256, 256>>>(x, grad, m, v, n, 1e-3f);
}

// run: block=32x8 grid=4x16 z=float[w*h] w=120 h=100 limit=50
// cudaperf: block=32x8
__global__ void escape_time(float *z, int w, int h, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w)
        return;
    if (py >= h)
        return;
    float cx = 3.f * px / w - 2.f, cy = 2.f * py / h - 1.f, x = 0.f, y = 0.f;
    int k = 0;
    while (k < limit && x * x + y * y < 4.f) {
        float t = x * x - y * y + cx;
        y = 2.f * x * y + cy;
        x = t;
        ++k;
    }
    z[py * w + px] = (float)k / limit;
}

// run: block=128 grid=8 a=float[n] b=float[n] out=float[n] n=1000
// cudaperf: block=128
__global__ void dot_per_block_leaves(const float *a, const float *b, float *out, int n)
{
    __shared__ float cache[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    if (!(i < n))
        return; // expect: CP306
    cache[threadIdx.x] = a[i] * b[i];
    __syncthreads(); // also: CP306
    if (threadIdx.x != 0)
        return;
    float sum = 0.f;
    for (int k = 0; k < 128 && blockIdx.x * 128 + k < n; ++k)
        sum += cache[k];
    out[blockIdx.x] = sum;
}

// run: block=128 grid=8 a=float[n] b=float[n] out=float[n] n=1000
// cudaperf: block=128
__global__ void dot_per_block_zero_fills(const float *a, const float *b, float *out, int n)
{
    __shared__ float cache[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    cache[threadIdx.x] = i < n ? a[i] * b[i] : 0.f;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    float sum = 0.f;
    for (int k = 0; k < 128; ++k)
        sum += cache[k];
    out[blockIdx.x] = sum;
}

// A thread of the halo has nothing to compute, but it loads.
// run: block=18x18 grid=4x4 in=float[w*h] out=float[w*h] w=64 h=64
// cudaperf: block=18x18
__global__ void box_filter_halo_threads(const float *in, float *out, int w, int h)
{
    __shared__ float s[18][18];
    int x = blockIdx.x * 16 + (int)threadIdx.x - 1, y = blockIdx.y * 16 + (int)threadIdx.y - 1;
    int cx = min(max(x, 0), w - 1), cy = min(max(y, 0), h - 1);
    s[threadIdx.y][threadIdx.x] = in[cy * w + cx];
    __syncthreads();
    if (threadIdx.x == 0 || threadIdx.x == 17 || threadIdx.y == 0 || threadIdx.y == 17)
        return;
    if (x >= w || y >= h)
        return;
    float sum = 0.f;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            sum += s[threadIdx.y + dy][threadIdx.x + dx];
    out[y * w + x] = sum / 9.f;
}

// It leaves before it has loaded anything.
// run: block=16x16 grid=4x4 in=float[w*h] out=float[w*h] w=60 h=60
__global__ void box_filter_leaves(const float *in, float *out, int w, int h)
{
    __shared__ float s[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    if (x >= w || y >= h)
        return; // expect: CP306
    s[ty][tx] = in[y * w + x];
    __syncthreads(); // also: CP306
    if (tx == 0 || ty == 0 || tx == 15 || ty == 15)
        return;
    out[y * w + x] = 0.25f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
}

void box_filter(const float *in, float *out, int w, int h)
{
    dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
    box_filter_leaves<<<grid, block>>>(in, out, w, h);
}

// run: block=256 grid=8 key=int[n] value=int[n] n=2000 wanted=77 found=int[1]:zero
__global__ void linear_search(const int *key, const int *value, int n, int wanted, int *found)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n)
        return;
    if (key[i] != wanted)
        return;
    if (value[i] < 100)
        return;
    *found = 1;
}

// run: block=256 grid=8 a=float[n] n=1024 half=128
__global__ void fold_once(float *a, int n, int half)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= half || i + half >= n)
        return;
    a[i] += a[i + half];
}

// run: block=64 grid=4 in=int[n] out=int[n] n=250
__global__ void sort_pairs_leaves(const int *in, int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i < n)
        s[t] = in[i];
    else
        return; // expect: CP306
    for (int k = 0; k < 64; ++k) {
        __syncthreads(); // also: CP306
        int at = t & ~1;
        if ((t & 1) == 0 && (k & 1) == 0 && s[at] > s[at + 1]) {
            int swap = s[at];
            s[at] = s[at + 1];
            s[at + 1] = swap;
        }
    }
    __syncthreads(); // also: CP306
    out[i] = s[t];
}

void sort_pairs(const int *in, int *out, int n)
{
    sort_pairs_leaves<<<(n + 63) / 64, 64>>>(in, out, n);
}

// The warp leaves as one; the other warps have a barrier still.
// run: block=128 grid=4 in=float[n] out=float[n] n=400
// cudaperf: block=128
__global__ void idle_warps_leave(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = i < n ? in[i] : 0.f;
    int first_of_warp = i - (t & 31);
    if (first_of_warp >= n)
        return; // expect: CP306
    __syncthreads(); // also: CP306
    if (i < n)
        out[i] = s[127 - t];
}

// A single block, and a thread more than needed.
// run: block=64 grid=1 in=float[n] out=float[1] n=60
__global__ void variance_leaves(const float *in, float *out, int n)
{
    __shared__ float part[64];
    int t = threadIdx.x;
    if (t >= n)
        return; // expect: CP306
    part[t] = in[t] * in[t];
    __syncthreads(); // also: CP306
    if (t == 0) {
        float sum = 0.f;
        for (int k = 0; k < n; ++k)
            sum += part[k];
        *out = sum / n;
    }
}

// run: block=256 grid=8 depth=float[n] out=float[n] n=2000 near=0.1 far=0.9
__global__ void linear_depth(const float *depth, float *out, int n, float near, float far)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n)
        return;
    if (depth[i] >= 1.f) {
        out[i] = far;
        return;
    }
    out[i] = near * far / (far - depth[i] * (far - near));
}

// run: block=128 grid=8 tree=int[n] depth=int[n] n=1000
// decides: CP104
__global__ void walk_to_root(const int *tree, int *depth, int n)
{
    int node = blockDim.x * blockIdx.x + threadIdx.x;
    if (node >= n)
        return;
    int steps = 0, at = node;
    while (at > 0 && steps < n) {
        at = min(tree[at], at - 1); // silent: CP101
        ++steps;
    }
    depth[node] = steps;
}
