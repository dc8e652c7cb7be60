// Two passes in double.
// expect: passed

extern "C" __global__ void sum_partial(const double *x, int n, double *partial)
{
    __shared__ double s[256];
    double v = 0.0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        v += x[i];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = s[0];
}

extern "C" __global__ void sum_final(const double *partial, int blocks, double *result)
{
    double v = 0.0;
    for (int i = 0; i < blocks; i++)
        v += partial[i];
    result[0] = v;
}
