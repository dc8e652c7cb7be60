// hazard: memory; sizes: 10
// launch: copy<<<1, 100, 0, stream>>>(a, b)
extern "C" __global__ void copy(const float *a, float *b) {
  b[threadIdx.x] = a[threadIdx.x + (1LL << 40)];  // HERE
}
