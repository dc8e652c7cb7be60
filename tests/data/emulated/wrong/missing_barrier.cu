// hazard: race; sizes: 32; race: 0
// launch: transpose<<<dim3(2, 2), dim3(16, 16), 0, stream>>>(a, b, n)
extern "C" __global__ void transpose(const float *a, float *b, int n) {
  __shared__ float tile[16][17];
  tile[threadIdx.y][threadIdx.x] = a[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x];  // HERE
  b[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];  // OTHER
}
