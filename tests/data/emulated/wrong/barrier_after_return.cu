// hazard: barrier; sizes: 5
// launch: early<<<1, 32, 0, stream>>>(a, b, n * n)
extern "C" __global__ void early(const float *a, float *b, int n) {
  if (threadIdx.x >= n) return;
  b[threadIdx.x] = a[threadIdx.x];
  __syncthreads();  // HERE
}
