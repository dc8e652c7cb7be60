// Shared memory is not zero to begin with.
// expect: mismatch array=bins
// expect: hazard hazard=initialization
// expect: hazard hazard=undefined

extern "C" __global__ void histogram(const unsigned char *pixels, int n, int *bins)
{
    __shared__ int local[256];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[pixels[i]], 1);
    __syncthreads();
    if (local[threadIdx.x])
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
