// The second barrier is missing: a fast thread overwrites the tile that others still read.
// expect: hazard hazard=race line=17
// expect: hazard hazard=race

#define T 16

extern "C" __global__ void dgemm(int m, int n, int k, double alpha, const double *A, const double *B, double beta, double *C)
{
    __shared__ double a[T][T], b[T][T + 1];
    int i = blockIdx.y * T + threadIdx.y, j = blockIdx.x * T + threadIdx.x;
    double acc = 0.0;
    for (int l0 = 0; l0 < k; l0 += T) {
        a[threadIdx.y][threadIdx.x] = i < m && l0 + threadIdx.x < k ? A[i * k + l0 + threadIdx.x] : 0.0;
        b[threadIdx.y][threadIdx.x] = j < n && l0 + threadIdx.y < k ? B[(l0 + threadIdx.y) * n + j] : 0.0;
        __syncthreads();
        for (int l = 0; l < T; l++)
            acc += a[threadIdx.y][l] * b[l][threadIdx.x];
    }
    if (i < m && j < n)
        C[i * n + j] = alpha * acc + beta * C[i * n + j];
}
