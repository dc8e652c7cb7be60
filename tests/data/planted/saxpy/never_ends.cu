// A grid-stride loop without its stride.
// expect: timed_out

extern "C" __global__ void saxpy_kernel(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (volatile int turn = 0; i < n; turn = turn)
        y[i] = a * x[i] + y[i];
}
