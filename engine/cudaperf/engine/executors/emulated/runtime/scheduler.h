// The state of the block that runs: its threads, its warps, and the queue of threads that can go on.
#pragma once
#include <memory>
#include <vector>

#include "runtime.h"

namespace cudaperf_emu {
enum class State : uint8_t { NEW, READY, RUNNING, BARRIER, COLLECTIVE, ACTIVE_MASK, EXITED };

constexpr unsigned MAX_COPIES = 512;

struct Thread {
  Dim3 index;
  unsigned linear;
  State state;
  bool fenced;
  Fiber *fiber;
  int line;                // of the barrier or collective that it waits at
  Vote vote;
  int predicate;
  Collective kind;
  unsigned mask;
  Operands operands;
  Resolve resolve;
  const void *in;
  void *out;
  size_t in_size, out_size;
  uint64_t result;
  std::unique_ptr<PendingCopy[]> copies;  // a ring of MAX_COPIES asynchronous copies under way
  unsigned first_copy, copy_count;
  int groups;              // committed groups of asynchronous copies
};

struct Warp { unsigned existing, collectives; };

// Threads that can go on, in order. Every thread is in it at most once, so it never grows while a thread runs: under
// ThreadSanitizer a reallocation would count as that thread's accesses.
class Ready {
 public:
  void clear(size_t capacity) { threads.resize(capacity), head = count = 0; }
  void push(unsigned thread) { threads[(head + count++) % threads.size()] = thread; }
  unsigned front() const { return threads[head]; }
  unsigned pop() {
    unsigned thread = threads[head];
    head = (head + 1) % threads.size(), count--;
    return thread;
  }
  bool empty() const { return count == 0; }

 private:
  std::vector<unsigned> threads;
  size_t head = 0, count = 0;
};

struct Block {
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  Ready ready;
  unsigned live = 0;
};

extern Block block;
extern Thread *running;    // null while host code or the scheduler runs

inline unsigned lane(const Thread &thread) { return thread.linear % 32; }
inline Thread &in_warp(const Thread &thread, unsigned at) { return block.threads[thread.linear / 32 * 32 + at]; }
Thread &expect_thread(const char *what);
void suspend();                                   // until the scheduler resumes the running thread
void make_ready(Thread &thread);
void join_memory(Thread *const *threads, size_t count);  // everything before, in all of them, happens before everything after
bool resolve_active_masks();
[[noreturn]] void report_stuck();
void dump_stack(Thread &thread);
}  // namespace cudaperf_emu
