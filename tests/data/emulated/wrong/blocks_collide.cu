// hazard: race; sizes: 16; race: 0; inout
// launch: collide<<<2, 128, 0, stream>>>(a, b)
extern "C" __global__ void collide(const float *a, float *b) {
  b[threadIdx.x] = a[threadIdx.x];  // HERE OTHER
}
