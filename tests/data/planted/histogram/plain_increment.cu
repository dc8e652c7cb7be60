// Threads of a block count without atomics.
// expect: hazard hazard=race line=10

extern "C" __global__ void histogram(const unsigned char *pixels, int n, int *bins)
{
    __shared__ int local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        local[pixels[i]]++;
    __syncthreads();
    if (local[threadIdx.x])
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
