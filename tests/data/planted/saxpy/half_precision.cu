// Rounds the product to 16 bits on the way.
// expect: mismatch array=y

extern "C" __global__ void saxpy_kernel(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __int_as_float(__float_as_int(a * x[i]) & 0xffff0000) + y[i];
}
