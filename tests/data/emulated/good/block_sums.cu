// sizes: 1 30; race: 1; inout
// launch: block_sums<<<n, 128, 0, stream>>>(a, b, n)
__device__ float warp_sum(float v) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}
extern "C" __global__ void block_sums(const float *a, float *b, int n) {
  __shared__ float partial[128 / 32];
  float v = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) v += a[blockIdx.x * n + i];
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < 4 ? partial[threadIdx.x] : 0;
    v = warp_sum(v);
    if (threadIdx.x == 0) b[blockIdx.x] = v;
  }
}
