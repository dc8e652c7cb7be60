// sizes: 20; race: 0; inout
// launch: histogram<<<3, 128, 0, stream>>>(a, b, n)
extern "C" __global__ void histogram(const float *a, float *b, int n) {
  __shared__ unsigned count[8];
  if (threadIdx.x < 8) count[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * n; i += gridDim.x * blockDim.x) atomicAdd(&count[int(a[i]) % 8], 1u);
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(&b[threadIdx.x], float(count[threadIdx.x]));
}
