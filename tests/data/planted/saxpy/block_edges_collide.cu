// The first thread of a block touches the last element of the block before: harmless where blocks run in turn.
// expect: hazard hazard=race line=11

extern "C" __global__ void saxpy_kernel(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        {
        y[i] = a * x[i] + y[i];
        if (threadIdx.x == 0 && i > 0)
            y[i - 1] = y[i - 1] + 0.0f;
    }
}
