// hazard: memory; sizes: 10
// launch: halo<<<1, 96, 0, stream>>>(a, b)
extern "C" __global__ void halo(const float *a, float *b) {
  __shared__ float left[96];
  left[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  b[threadIdx.x] = left[threadIdx.x + 1];  // HERE
}
