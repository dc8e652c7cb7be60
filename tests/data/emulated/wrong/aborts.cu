// hazard: undefined; sizes: 10
// launch: check<<<1, 100, 0, stream>>>(a, b)
extern "C" __global__ void check(const float *a, float *b) {
  assert(threadIdx.x < 99);  // HERE
  b[threadIdx.x] = a[threadIdx.x];
}
