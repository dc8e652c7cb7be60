// verdict: rejected; sizes: 10
// launch: halve<<<1, 100, 0, stream>>>(a, b)
extern "C" __global__ void halve(float *a, float *b) {
  a[threadIdx.x] *= 0.5f;
  b[threadIdx.x] = a[threadIdx.x];
}
