// Works for arrays of up to 1000 elements only.
// expect: mismatch array=y

extern "C" __global__ void saxpy_kernel(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i < 1000)
        y[i] = a * x[i] + y[i];
}
