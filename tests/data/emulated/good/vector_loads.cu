// sizes: 32; race: 0
// launch: twice4<<<(n * n / 4 + 127) / 128, 128, 0, stream>>>((const float4 *)a, (float4 *)b, n * n / 4)
extern "C" __global__ void twice4(const float4 *__restrict__ a, float4 *__restrict__ b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = __ldg(&a[i]);
  b[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
}
