// hazard: memory; sizes: 16
// launch: pipeline<<<1, 32, 0, stream>>>(a, b)
extern "C" __global__ void pipeline(const float *a, float *b) {
  __shared__ float4 stage[32];
  cp_async_16(&stage[threadIdx.x], a + 1 + 4 * threadIdx.x);  // HERE
  cp_async_commit();
  cp_async_wait<0>();
  ((float4 *)b)[threadIdx.x] = stage[threadIdx.x];
}
