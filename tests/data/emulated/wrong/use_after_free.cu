// hazard: memory; sizes: 10
// host: CHECK(cudaFree(b)); b = nullptr; float *again = nullptr; CHECK(cudaMalloc(&again, 400)); float *stale = again; CHECK(cudaFree(again));
// host: copy<<<1, 32, 0, stream>>>(a, stale); CHECK(cudaStreamSynchronize(stream)); CHECK(cudaMalloc(&b, bytes));
extern "C" __global__ void copy(const float *a, float *b) {
  b[threadIdx.x] = a[threadIdx.x];  // HERE
}
