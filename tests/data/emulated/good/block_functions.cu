// sizes: 16; race: 0
// launch: all<<<dim3(2, 1), dim3(32, 4), 0, stream>>>(a, b)
extern "C" __global__ void all(const float *a, float *b) {
  int i = blockIdx.x * 128 + cp_thread_number();
  float sum = cp_block_reduce<128>(a[i], cp_plus());
  float largest = cp_block_reduce<128>(a[i], cp_larger());
  b[i] = cp_block_inclusive_scan<128>(a[i], cp_plus()) + 1000 * largest + 100000 * (sum - a[0] * 0);
}
