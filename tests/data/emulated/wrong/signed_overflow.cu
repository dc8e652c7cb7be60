// hazard: undefined; sizes: 10
// launch: grow<<<1, 100, 0, stream>>>(a, b)
extern "C" __global__ void grow(const float *a, float *b) {
  int big = 2147483647 - 50;
  b[threadIdx.x] = a[threadIdx.x] + (big + int(threadIdx.x));  // HERE
}
