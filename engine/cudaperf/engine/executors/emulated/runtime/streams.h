// Streams as queues of deferred work: an asynchronous operation runs when something waits for it, never earlier, so that a
// forgotten synchronization shows.
#pragma once
#include <deque>
#include <vector>

#include "../include/cudaperf_emulation/api.h"
#include "runtime.h"

using Operation = std::function<void()>;
struct CudaperfGraph { std::vector<Operation> operations; };
struct CudaperfStream {
  std::deque<Operation> pending;
  bool non_blocking = false;
  CudaperfGraph *capture = nullptr;
};
struct CudaperfEvent {
  cudaStream_t stream = nullptr;
  bool done = true;
  unsigned long long nanoseconds = 0;
};

namespace cudaperf_emu {
bool capturing();
bool refused(const char *call);  // whether CUDAPERF_EMULATED_FAIL_AT asks for this call, counted from 1, to fail
void enqueue(cudaStream_t stream, Operation operation);
void run_stream(cudaStream_t stream);
void run_everything();
}  // namespace cudaperf_emu
