// sizes: 8; race: 0
// launch: votes<<<1, 64, 0, stream>>>(a, b)
extern "C" __global__ void votes(const float *a, float *b) {
  unsigned t = threadIdx.x, odd = __ballot_sync(0xffffffffu, int(a[t]) % 2);
  int all = __all_sync(0xffffffffu, a[t] >= 0), any = __any_sync(0xffffffffu, a[t] > 1e9f);
  unsigned same = __match_any_sync(0xffffffffu, int(t % 4)), total = __reduce_add_sync(0xffffffffu, t);
  int pairs = __shfl_xor_sync(0xffffffffu, int(t), 1), octet = __shfl_sync(0xffffffffu, int(t), 3, 8);
  int count = __syncthreads_count(t % 3 == 0), some = __syncthreads_or(t == 5), every = __syncthreads_and(t < 64);
  double wide = __shfl_down_sync(0xffffffffu, double(t) + 0.5, 2);
  unsigned active = t % 32 < 10 ? __activemask() : 0x3ffu;
  __syncwarp();
  b[t] = __popc(odd) + 100 * all + 1000 * any + __popc(same) + total + pairs + octet + count + some + every + float(wide) + __popc(active);
}
