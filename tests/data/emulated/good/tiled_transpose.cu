// sizes: 1 31 40; race: 2
// launch: transpose<<<dim3((n + T - 1) / T, (n + T - 1) / T), dim3(T, T), 0, stream>>>(a, b, n)
#define T 16
extern "C" __global__ void __launch_bounds__(T *T) transpose(const float *__restrict__ a, float *__restrict__ b, int n) {
  __shared__ float tile[T][T + 1];
  int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
  if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = a[y * n + x];
  __syncthreads();
  x = blockIdx.y * T + threadIdx.x;
  y = blockIdx.x * T + threadIdx.y;
  if (x < n && y < n) b[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
