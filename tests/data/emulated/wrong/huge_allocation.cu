// verdict: out_of_memory; sizes: 10
// host: float *huge = nullptr; CHECK(cudaMalloc(&huge, size_t(1) << 50));
// host: copy<<<1, 100, 0, stream>>>(a, b);
extern "C" __global__ void copy(const float *a, float *b) { b[threadIdx.x] = a[threadIdx.x]; }
