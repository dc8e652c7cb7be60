// sizes: 9; race: 0
// host: cudaGraph_t graph; cudaGraphExec_t steps;
// host: CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
// host: for (int t = 0; t < 3; t++) { add<<<(n * n + 63) / 64, 64, 0, stream>>>(a, b, n * n, t == 0);
// host:   CHECK(cudaGetLastError()); }
// host: CHECK(cudaStreamEndCapture(stream, &graph));
// host: CHECK(cudaGraphInstantiate(&steps, graph, 0));
// host: for (int t = 0; t < 2; t++) CHECK(cudaGraphLaunch(steps, stream));
// host: CHECK(cudaStreamSynchronize(stream)); CHECK(cudaGraphExecDestroy(steps)); CHECK(cudaGraphDestroy(graph));
extern "C" __global__ void add(const float *a, float *b, int n, bool first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = (first ? 0 : b[i]) + a[i];
}
