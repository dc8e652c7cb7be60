// hazard: initialization; sizes: 10
// launch: most<<<1, 100, 0, stream>>>(a, b, n * n)
extern "C" __global__ void most(const float *a, float *b, int n) {
  if (threadIdx.x < n - 1) b[threadIdx.x] = a[threadIdx.x];
}
