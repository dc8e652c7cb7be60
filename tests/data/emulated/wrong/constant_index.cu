// hazard: memory; sizes: 10
// launch: weigh<<<1, 100, 0, stream>>>(a, b)
__constant__ float weight[4] = {1, 2, 3, 4};
extern "C" __global__ void weigh(const float *a, float *b) {
  const float *w = weight;
  b[threadIdx.x] = a[threadIdx.x] * w[threadIdx.x % 5];  // HERE
}
