// Scales x in place first: the result is right, the input is not the caller's any more.
// expect: rejected row=11

extern "C" __global__ void saxpy_kernel(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        {
        float *scaled = (float *)x;
        scaled[i] = a * x[i];
        y[i] = scaled[i] + y[i];
    }
}
