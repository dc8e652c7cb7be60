// hazard: memory; sizes: 10
// launch: deep<<<1, 100, 0, stream>>>(a, b)
__device__ float down(const volatile float *a, int n) { volatile float pad[64]; pad[n % 64] = a[0]; return n < 0 ? pad[0] : down(pad, n + 1) + pad[n % 64]; }  // HERE
extern "C" __global__ void deep(const float *a, float *b) { b[threadIdx.x] = down(a, threadIdx.x); }
