// Threads of a block write the element of their right neighbour too.
// expect: hazard hazard=race line=11

extern "C" __global__ void saxpy_kernel(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        {
        y[i] = a * x[i] + y[i];
        if (i + 1 < n && (threadIdx.x & 1) == 0)
            y[i + 1] = y[i + 1] + 0.0f;
    }
}
