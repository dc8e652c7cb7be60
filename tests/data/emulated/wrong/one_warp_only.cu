// hazard: race; sizes: 16; race: 0; inout
// launch: late<<<1, 64, 0, stream>>>(a, b)
extern "C" __global__ void late(const float *a, float *b) {
  __shared__ float s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) s[threadIdx.x] += s[threadIdx.x + 32];
  __syncthreads();
  if (threadIdx.x < 16) s[threadIdx.x] += s[threadIdx.x + 16];  // HERE
  __syncwarp();
  b[threadIdx.x] = s[threadIdx.x % 16];  // OTHER
}
