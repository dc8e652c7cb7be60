// hazard: race; sizes: 10
// launch: first<<<1, 100, 0, stream>>>(a, b, n * n)
extern "C" __global__ void first(const float *a, float *b, int n) {
  __shared__ unsigned next;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  unsigned place = atomicAdd(&next, 1u);
  b[place] = a[threadIdx.x];
}
