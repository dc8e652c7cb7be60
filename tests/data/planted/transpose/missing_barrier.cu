// No barrier between filling and reading the tile.
// expect: hazard hazard=race line=17

extern "C" __global__ void transpose_kernel(int rows, int cols, const float *in, float *out)
{
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += 8) {
        int r = blockIdx.y * 32 + k;
        if (r < rows && c < cols)
            tile[k][threadIdx.x] = in[r * cols + c];
    }
    int r = blockIdx.y * 32 + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += 8) {
        int to = blockIdx.x * 32 + k;
        if (r < rows && to < cols)
            out[to * rows + r] = tile[threadIdx.x][k];
    }
}
