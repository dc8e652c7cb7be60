// hazard: race; sizes: 16; race: 0; inout
// launch: smooth<<<4, 64, 0, stream>>>(b, n * n)
extern "C" __global__ void smooth(float *b, int n) {
  __shared__ float s[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  s[threadIdx.x] = i + 1 < n ? b[i + 1] : 0;  // OTHER
  __syncthreads();
  b[i] = s[threadIdx.x] + 1;  // HERE
}
