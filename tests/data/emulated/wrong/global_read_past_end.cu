// hazard: memory; sizes: 10
// launch: next<<<1, 128, 0, stream>>>(a, b, n * n)
extern "C" __global__ void next(const float *a, float *b, int n) {
  int i = threadIdx.x;
  if (i < n) b[i] = a[i + 1];  // HERE
}
