// The index passes through a product that does not fit 32 bits.
// expect: hazard hazard=undefined line=6

extern "C" __global__ void saxpy_kernel(int n, float a, const float *x, float *y)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 16777259;
    if (i / 16777259 < n)
        y[i / 16777259] = a * x[i / 16777259] + y[i / 16777259];
}
