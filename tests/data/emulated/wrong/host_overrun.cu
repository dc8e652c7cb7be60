// hazard: memory; sizes: 10
// host: float *wide = nullptr; CHECK(cudaMalloc(&wide, 2 * bytes));
// host: CHECK(cudaMemcpyAsync(wide, host_a, bytes + 4, cudaMemcpyHostToDevice, stream)); CHECK(cudaFree(wide));
extern "C" __global__ void copy(const float *a, float *b) { b[threadIdx.x] = a[threadIdx.x]; }
