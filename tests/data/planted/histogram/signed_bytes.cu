// Takes the grey level for a signed byte.
// expect: hazard hazard=memory line=11
// expect: hazard hazard=undefined line=11

extern "C" __global__ void histogram(const unsigned char *pixels, int n, int *bins)
{
    __shared__ int local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[(signed char)pixels[i]], 1);
    __syncthreads();
    if (local[threadIdx.x])
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
