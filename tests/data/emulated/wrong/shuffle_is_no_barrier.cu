// hazard: race; sizes: 6; race: 0; inout
// launch: neighbours<<<1, 32, 0, stream>>>(a, b)
extern "C" __global__ void neighbours(const float *a, float *b) {
  __shared__ float s[32];
  s[threadIdx.x] = a[threadIdx.x];  // OTHER
  float v = __shfl_sync(0xffffffffu, a[threadIdx.x], 0);
  b[threadIdx.x] = v + s[(threadIdx.x + 1) % 32];  // HERE
}
