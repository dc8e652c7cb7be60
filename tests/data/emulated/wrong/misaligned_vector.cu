// hazard: memory; sizes: 10
// launch: copy<<<1, 8, 0, stream>>>(a + 1, b)
extern "C" __global__ void copy(const float *a, float *b) {
  float4 v = reinterpret_cast<const float4 *>(a)[threadIdx.x];  // HERE
  b[threadIdx.x] = v.x + v.w;
}
