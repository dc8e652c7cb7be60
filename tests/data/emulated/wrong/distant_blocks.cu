// hazard: race; sizes: 32; race: 0; inout
// launch: smooth<<<8, 128, 0, stream>>>(b, n * n)
extern "C" __global__ void smooth(float *b, int n) {
  __shared__ float s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = i + 256 < n ? b[i + 256] : 0;  // OTHER
  __syncthreads();
  b[i] = s[127 - threadIdx.x] + 1;  // HERE
}
