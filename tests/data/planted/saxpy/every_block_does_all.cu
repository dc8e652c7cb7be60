// Blocks overlap: each of them walks over the whole array.
// expect: hazard hazard=race line=8

extern "C" __global__ void saxpy_kernel(int n, float a, const float *x, float *y)
{
    int i = threadIdx.x;
    for (; i < n; i += blockDim.x)
        y[i] = a * x[i] + y[i];
}
