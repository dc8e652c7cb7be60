// hazard: barrier; sizes: 10
// launch: half<<<1, 32, 0, stream>>>(a, b)
extern "C" __global__ void half(const float *a, float *b) {
  b[threadIdx.x] = __shfl_xor_sync(0xffffu, a[threadIdx.x], 1);  // HERE
}
