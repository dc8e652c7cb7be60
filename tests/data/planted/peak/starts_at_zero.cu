// The maximum of negative numbers becomes 0.
// expect: mismatch

extern "C" __global__ void peak_all(int n, const double *x, double *result)
{
    __shared__ double s[256];
    double m = 0.0;
    for (int i = threadIdx.x; i < n; i += 256)
        m = x[i] > m ? x[i] : m;
    s[threadIdx.x] = m;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half && s[threadIdx.x + half] > s[threadIdx.x])
            s[threadIdx.x] = s[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        result[0] = s[0];
}
