// No barrier between reading the left neighbour and writing: sums count twice, and may overflow.
// expect: hazard hazard=race line=14
// expect: hazard hazard=race line=13
// expect: hazard hazard=undefined line=14

extern "C" __global__ void scan_blocks(int n, const int *in, int *out, int *totals)
{
    __shared__ int s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int left = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
        s[threadIdx.x] += left;
        __syncthreads();
    }
    if (i < n)
        out[i] = s[threadIdx.x];
    if (threadIdx.x == 255)
        totals[blockIdx.x] = s[255];
}

extern "C" __global__ void scan_totals(int blocks, int *totals)
{
    int before = 0;
    for (int b = 0; b < blocks; b++) {
        int t = totals[b];
        totals[b] = before;
        before += t;
    }
}

extern "C" __global__ void add_totals(int n, int *out, const int *totals)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        out[i] += totals[blockIdx.x];
}
