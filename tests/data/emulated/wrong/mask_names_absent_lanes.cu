// hazard: barrier; sizes: 10
// launch: half<<<1, 32, 0, stream>>>(a, b)
extern "C" __global__ void half(const float *a, float *b) {
  float v = a[threadIdx.x];
  if (threadIdx.x < 16)
    v += __shfl_xor_sync(0xffffffffu, v, 1);  // HERE
  b[threadIdx.x] = v;
}
