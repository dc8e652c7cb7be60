// hazard: memory; sizes: 10
// launch: copy<<<1, 96, 95 * sizeof(float), stream>>>(a, b)
extern "C" __global__ void copy(const float *a, float *b) {
  extern __shared__ float s[];
  s[threadIdx.x] = a[threadIdx.x];  // HERE
  __syncthreads();
  b[threadIdx.x] = s[0];
}
