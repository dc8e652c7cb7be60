// hazard: barrier; sizes: 10
// launch: diverge<<<1, 64, 0, stream>>>(a, b)
extern "C" __global__ void diverge(const float *a, float *b) {
  if (threadIdx.x < 32)
    __syncthreads();  // HERE
  else
    __syncthreads();  // OTHER
  b[threadIdx.x] = a[threadIdx.x];
}
