// sizes: 7 12; race: 0
// launch: shift<<<dim3(n, 2, (n + 3) / 4), dim3(2, (n + 1) / 2, 4), 0, stream>>>(a, b, n)
extern "C" __global__ void shift(const float *a, float *b, int n) {
  int y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.z * blockDim.z + threadIdx.z;
  if (threadIdx.x == 0 && blockIdx.x == 0 && y < n && x < n) b[y * n + x] = a[y * n + x] + n * y + x;
}
