// hazard: memory; sizes: 10
// launch: previous<<<1, 128, 0, stream>>>(a, b, n * n)
extern "C" __global__ void previous(const float *a, float *b, int n) {
  int i = threadIdx.x;
  if (i < n)
    b[i - 1] = a[i];  // HERE
}
