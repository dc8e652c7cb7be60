// The row stride is the height: right for square grids only.
// expect: hazard hazard=memory
// expect: mismatch array=out
// expect: hazard hazard=race

#define TX 32
#define TY 8

extern "C" __global__ void jacobi_sweep_kernel(int ny, int nx, const float *in, float *out)
{
    const int stride = ny;
    __shared__ float tile[TY + 2][TX + 2];
    int x = blockIdx.x * TX + threadIdx.x + 1, y = blockIdx.y * TY + threadIdx.y + 1;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool inside = x < nx - 1 && y < ny - 1;
    if (inside) {
        tile[ty][tx] = in[y * nx + x];
        if (tx == 1)
            tile[ty][0] = in[y * nx + x - 1];
        if (tx == TX || x == nx - 2)
            tile[ty][tx + 1] = in[y * nx + x + 1];
        if (ty == 1)
            tile[0][tx] = in[(y - 1) * nx + x];
        if (ty == TY || y == ny - 2)
            tile[ty + 1][tx] = in[(y + 1) * nx + x];
    }
    __syncthreads();
    if (inside)
        out[y * stride + x] = 0.25f * (tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1]);
}
