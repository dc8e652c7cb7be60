// hazard: memory; sizes: 10
// host: if (a[3] > 1e9f) return cudaErrorUnknown;
extern "C" __global__ void copy(const float *a, float *b) { b[threadIdx.x] = a[threadIdx.x]; }
