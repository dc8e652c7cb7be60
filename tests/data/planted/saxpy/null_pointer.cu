// Writes through a null pointer.
// expect: hazard hazard=memory

extern "C" __global__ void saxpy_kernel(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        *(volatile float *)0 = a * x[i];
}
