// sizes: 33; race: 0
// before: CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000))
// launch: reverse<<<n, 64, 60000, stream>>>(a, b, n)
extern __shared__ float row[];
extern "C" __global__ void reverse(const float *a, float *b, int n) {
  for (int i = threadIdx.x; i < n; i += 64) row[i] = a[blockIdx.x * n + i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 64) b[blockIdx.x * n + i] = row[n - 1 - i];
}
