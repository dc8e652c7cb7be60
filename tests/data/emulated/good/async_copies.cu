// sizes: 16; race: 0
// launch: pipeline<<<2, 32, 0, stream>>>(a, b)
extern "C" __global__ void pipeline(const float *a, float *b) {
  __shared__ float stage[2][64];
  const float *from = a + blockIdx.x * 128;
  for (int s = 0; s < 3; s++) {
    if (s < 2) {
      cp_async_b64((double *)&stage[s][2 * threadIdx.x], (const double *)(from + s * 64) + threadIdx.x);
      cp_async_commit();
    }
    if (s == 0) continue;
    if (s == 1)
      cp_async_wait<1>();
    else
      cp_async_wait<0>();
    __syncthreads();
    for (int i = threadIdx.x; i < 64; i += 32) b[blockIdx.x * 128 + (s - 1) * 64 + i] = stage[s - 1][63 - i];
  }
}
