// No barrier between counting and merging.
// expect: hazard hazard=race

extern "C" __global__ void histogram(const unsigned char *pixels, int n, int *bins)
{
    __shared__ int local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[pixels[i]], 1);
    if (local[threadIdx.x])
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
