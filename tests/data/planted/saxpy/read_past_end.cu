// Off by one: reads the next element of x.
// expect: hazard hazard=memory line=8

extern "C" __global__ void saxpy_kernel(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i + 1] + y[i];
}
