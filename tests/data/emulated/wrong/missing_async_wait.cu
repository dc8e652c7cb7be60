// hazard: initialization; sizes: 16
// launch: pipeline<<<2, 32, 0, stream>>>(a, b)
extern "C" __global__ void pipeline(const float *a, float *b) {
  __shared__ float4 stage[32];
  cp_async_16(&stage[threadIdx.x], (const float4 *)a + blockIdx.x * 32 + threadIdx.x);
  cp_async_commit();
  __syncthreads();
  ((float4 *)b)[blockIdx.x * 32 + threadIdx.x] = stage[31 - threadIdx.x];
}
