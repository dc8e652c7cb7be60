// verdict: timed_out; sizes: 10
// launch: spin<<<1, 100, 0, stream>>>(a, b)
extern "C" __global__ void spin(const float *a, volatile float *b) {
  while (a[0] < 1e30f) b[0] = a[0];
}
