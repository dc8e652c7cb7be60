// verdict: launch_failed; sizes: 10
// host: CHECK(cudaMemcpyAsync(a, host_a, bytes + 4, cudaMemcpyHostToDevice, stream));
// host: copy<<<1, 100, 0, stream>>>(a, b);
extern "C" __global__ void copy(const float *a, float *b) { b[threadIdx.x] = a[threadIdx.x]; }
