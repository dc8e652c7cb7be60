// hazard: barrier; sizes: 10
// launch: mixed<<<1, 32, 0, stream>>>(a, b)
extern "C" __global__ void mixed(const float *a, float *b) {
  float v = a[threadIdx.x];
  if (threadIdx.x % 2)
    v = __shfl_sync(0xffffffffu, v, 0);  // HERE
  else
    __syncthreads();  // OTHER
  b[threadIdx.x] = v;
}
