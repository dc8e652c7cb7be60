// hazard: memory; sizes: 10
// launch: copy<<<1, 32, 0, stream>>>(host_a, b)
extern "C" __global__ void copy(const float *a, float *b) { b[threadIdx.x] = a[threadIdx.x]; }
