// sizes: 5; race: 0
// launch: warp_scan<<<1, 32, 0, stream>>>(a, b, n)
extern "C" __global__ void warp_scan(const float *a, float *b, int n) {
  float v = threadIdx.x < n * n ? a[threadIdx.x] : 0;
  for (int d = 1; d < 32; d *= 2) {
    float below = __shfl_up_sync(0xffffffffu, v, d);
    if (threadIdx.x >= d) v += below;
  }
  if (threadIdx.x < n * n) b[threadIdx.x] = v;
}
