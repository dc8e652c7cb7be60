// hazard: memory; sizes: 10
// launch: halo<<<1, 96, 0, stream>>>(a, b)
extern "C" __global__ void halo(const float *a, float *b) {
  __shared__ float left[95], right[96];
  float *p = left;
  p[threadIdx.x] = a[threadIdx.x];  // HERE
  right[threadIdx.x] = 0;
  __syncthreads();
  b[threadIdx.x] = left[threadIdx.x / 2] + right[0];
}
