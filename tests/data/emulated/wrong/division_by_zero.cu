// hazard: undefined; sizes: 10
// launch: divide<<<1, 100, 0, stream>>>(a, b)
extern "C" __global__ void divide(const float *a, float *b) {
  b[threadIdx.x] = a[threadIdx.x] + 100 / int(threadIdx.x);  // HERE
}
