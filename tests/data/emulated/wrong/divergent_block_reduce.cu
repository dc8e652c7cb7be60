// hazard: barrier; sizes: 16
// launch: half<<<1, 64, 0, stream>>>(a, b)
extern "C" __global__ void half(const float *a, float *b) {
  if (threadIdx.x < 32)
    b[threadIdx.x] = cp_block_reduce<64>(a[threadIdx.x], cp_plus());  // HERE
}
