// How many threads a block has.
#include <cuda_runtime.h>

#define SPAN 500
#define TILE 16

constexpr int QUARTER = 64;
enum { ODD_WIDTH = 36 };

// run: block=100 grid=10 a=float[n] n=1000
// decides: CP201 CP202 CP203
__global__ void fill_ones(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = 1.f;
}

void fill_in_all_sizes(float *a, int n, int threads)
{
    fill_ones<<<(n + 99) / 100, 100>>>(a, n); // expect: CP202
    fill_ones<<<(n + 47) / 48, 48>>>(a, n); // expect: CP202
    fill_ones<<<(n + 249) / 250, 250>>>(a, n); // expect: CP202
    fill_ones<<<n, 1>>>(a, n); // expect: CP202
    fill_ones<<<(n + SPAN - 1) / SPAN, SPAN>>>(a, n); // expect: CP202
    fill_ones<<<(n + 95) / 96, 96>>>(a, n);
    fill_ones<<<(n + 31) / 32, 32>>>(a, n);
    fill_ones<<<(n + QUARTER - 1) / QUARTER, QUARTER>>>(a, n);
    fill_ones<<<(n + ODD_WIDTH - 1) / ODD_WIDTH, ODD_WIDTH>>>(a, n); // expect: CP202
    fill_ones<<<(n + threads - 1) / threads, threads>>>(a, n);
    fill_ones<<<1, 100>>>(a, n);
    fill_ones<<<1, 7>>>(a, n);
    fill_ones<<<2, 1000>>>(a, n); // expect: CP202
}

// run: block=20x20 grid=4x4 a=float[w*h] b=float[w*h] w=80 h=80
// decides: CP201 CP202 CP203
__global__ void invert_image(const float *a, float *b, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        b[y * w + x] = 1.f - a[y * w + x]; // also: CP101
}

void invert(const float *a, float *b, int w, int h, dim3 given)
{
    dim3 twenty(20, 20), ten(10, 10), twelve(12, 12), square(24, 24), wide(64, 2), warp(16, 2);
    invert_image<<<dim3((w + 19) / 20, (h + 19) / 20), twenty>>>(a, b, w, h); // expect: CP202
    invert_image<<<dim3((w + 9) / 10, (h + 9) / 10), ten>>>(a, b, w, h); // expect: CP202
    invert_image<<<dim3((w + 11) / 12, (h + 11) / 12), twelve>>>(a, b, w, h); // expect: CP202
    invert_image<<<dim3((w + 23) / 24, (h + 23) / 24), square>>>(a, b, w, h);
    invert_image<<<dim3((w + 63) / 64, (h + 1) / 2), wide>>>(a, b, w, h);
    invert_image<<<dim3((w + 15) / 16, (h + 1) / 2), warp>>>(a, b, w, h);
    invert_image<<<dim3((w + 7) / 8, (h + 7) / 8), dim3(8, 8)>>>(a, b, w, h);
    invert_image<<<dim3(w / 16, h / 3), dim3(16, 3)>>>(a, b, w, h); // expect: CP202
    invert_image<<<dim3(8, 8), given>>>(a, b, w, h);
}

// The threads of the halo count, too.
// run: block=18x18 grid=4x4 in=float[w*h] out=float[w*h] w=64 h=64
// decides: CP201 CP202 CP203
__global__ void dilate_with_halo(const float *in, float *out, int w, int h)
{
    __shared__ float s[TILE + 2][TILE + 2];
    int x = blockIdx.x * TILE + (int)threadIdx.x - 1, y = blockIdx.y * TILE + (int)threadIdx.y - 1;
    bool inside = x >= 0 && y >= 0 && x < w && y < h;
    s[threadIdx.y][threadIdx.x] = inside ? in[y * w + x] : 0.f; // also: CP101
    __syncthreads();
    if (!inside || threadIdx.x % 17 == 0 || threadIdx.y % 17 == 0)
        return;
    float top = s[threadIdx.y - 1][threadIdx.x];
    top = fmaxf(top, s[threadIdx.y + 1][threadIdx.x]);
    top = fmaxf(top, s[threadIdx.y][threadIdx.x - 1]);
    out[y * w + x] = fmaxf(top, s[threadIdx.y][threadIdx.x + 1]); // also: CP101
}

void dilate(const float *in, float *out, int w, int h)
{
    dim3 block(TILE + 2, TILE + 2);
    dim3 grid((w + TILE - 1) / TILE, (h + TILE - 1) / TILE);
    dilate_with_halo<<<grid, block>>>(in, out, w, h); // expect: CP202
}

// run: block=5x5x5 grid=2x2x2 field=float[1000] out=float[1000]
// decides: CP201 CP202 CP203
__global__ void cube_of_cells(const float *field, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    int at = (z * 10 + y) * 10 + x;
    if (x < 10 && y < 10 && z < 10)
        out[at] = 2.f * field[at]; // also: CP101
}

void cubes(const float *field, float *out)
{
    cube_of_cells<<<dim3(2, 2, 2), dim3(5, 5, 5)>>>(field, out); // expect: CP202
    cube_of_cells<<<dim3(3, 3, 3), dim3(4, 4, 4)>>>(field, out);
    cube_of_cells<<<dim3(4, 3, 3), dim3(3, 4, 4)>>>(field, out); // expect: CP202
}

// Sizes by variables of the host.
// run: block=64 grid=8 a=int[n] b=int[n] n=500
// decides: CP201 CP202 CP203
__global__ void copy_ints(const int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i];
}

void copy_by_variables(const int *a, int *b, int n)
{
    const int threads = 200;
    int half = threads / 2;
    copy_ints<<<(n + threads - 1) / threads, threads>>>(a, b, n); // expect: CP202
    copy_ints<<<(n + half - 1) / half, half>>>(a, b, n); // expect: CP202
    int warps = 3;
    copy_ints<<<(n + 95) / 96, 32 * warps>>>(a, b, n);
    int rounded = (n + 31) / 32 * 32;
    copy_ints<<<4, rounded>>>(a, b, n);
    int chosen = n > 5000 ? 256 : 128;
    copy_ints<<<(n + chosen - 1) / chosen, chosen>>>(a, b, n);
}

// A lane short of everything.
// run: block=31 grid=4 a=float[n] n=124
// decides: CP201 CP202 CP203
__global__ void halve_each(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] *= 0.5f;
}

void halve(float *a, int n)
{
    halve_each<<<(n + 30) / 31, 31>>>(a, n); // expect: CP202
    halve_each<<<(n + 32) / 33, 33>>>(a, n); // expect: CP202
    halve_each<<<(n + 1023) / 1024, 1024>>>(a, n);
    halve_each<<<(n + 1088) / 1089, dim3(33, 33)>>>(a, n);
}
