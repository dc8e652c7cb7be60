// hazard: race; sizes: 16; race: 0
// launch: pipeline<<<2, 32, 0, stream>>>(a, b)
extern "C" __global__ void pipeline(const float *a, float *b) {
  __shared__ float4 stage[32];
  cp_async_16(&stage[threadIdx.x], (const float4 *)a + blockIdx.x * 32 + threadIdx.x);  // HERE
  cp_async_commit();
  cp_async_wait<0>();
  ((float4 *)b)[blockIdx.x * 32 + threadIdx.x] = stage[31 - threadIdx.x];  // OTHER
}
