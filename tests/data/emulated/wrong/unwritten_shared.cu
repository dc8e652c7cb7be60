// hazard: initialization; sizes: 10
// launch: gap<<<1, 64, 0, stream>>>(a, b)
extern "C" __global__ void gap(const float *a, float *b) {
  __shared__ float s[64];
  if (threadIdx.x != 7) s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.x; i < 100; i += 64) b[i] = s[63 - threadIdx.x];
}
