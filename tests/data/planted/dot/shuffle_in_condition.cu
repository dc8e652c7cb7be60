// Half of the lanes that the mask names never arrive.
// expect: hazard hazard=barrier line=10
// expect: hazard hazard=barrier

__device__ float block_sum(float v)
{
    __shared__ float s[8];
    for (int d = 16; d > 0; d /= 2)
        if (threadIdx.x % 32 < 16)
            v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    float t = threadIdx.x < 8 ? s[threadIdx.x] : 0.0f;
    for (int d = 4; d > 0; d /= 2)
        t += __shfl_down_sync(0xffffffffu, t, d);
    return t;
}

extern "C" __global__ void dot_partial(const float *a, const float *b, int n, float *partial)
{
    float v = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += a[i] * b[i];
    v = block_sum(v);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = v;
}

extern "C" __global__ void dot_final(const float *partial, int blocks, float *result)
{
    float v = 0.0f;
    for (int i = threadIdx.x; i < blocks; i += blockDim.x)
        v += partial[i];
    v = block_sum(v);
    if (threadIdx.x == 0)
        result[0] = v;
}
