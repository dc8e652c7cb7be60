// sizes: 20; race: 0; inout
// launch: last_block_sums<<<4, 64, 0, stream>>>(a, b, n)
__device__ unsigned arrived;
__device__ float partial[4];
extern "C" __global__ void last_block_sums(const float *a, float *b, int n) {
  __shared__ float each[64];
  __shared__ bool last;
  float v = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n * n; i += 256) v += a[i];
  each[threadIdx.x] = v;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (threadIdx.x < d) each[threadIdx.x] += each[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = each[0];
    __threadfence();
    last = atomicInc(&arrived, 3) == 3;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) b[0] = partial[0] + partial[1] + partial[2] + partial[3];
}
