// hazard: memory; sizes: 10
// host: float *lost = nullptr; CHECK(cudaMalloc(&lost, 64));
// host: copy<<<1, 100, 0, stream>>>(a, b);
extern "C" __global__ void copy(const float *a, float *b) { b[threadIdx.x] = a[threadIdx.x]; }
