// Every block writes the one partial sum.
// expect: hazard hazard=race line=24

__device__ float block_sum(float v)
{
    __shared__ float s[256];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    return s[0];
}

extern "C" __global__ void dot_partial(const float *a, const float *b, int n, float *partial)
{
    float v = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += a[i] * b[i];
    v = block_sum(v);
    if (threadIdx.x == 0)
        partial[0] = v;
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
