// hazard: race; sizes: 16; race: 0; inout
// launch: histogram<<<2, 128, 0, stream>>>(a, (int *)b, n * n)
extern "C" __global__ void histogram(const float *a, int *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 8) b[i] = 0;  // OTHER
  if (i < n) b[int(a[i]) % 8]++;  // HERE
}
