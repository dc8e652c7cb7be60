// Runs grids: blocks one after another, threads as fibers. A fiber runs thread after thread until one of them waits, so that
// kernels without barriers cost no context switch. Under ThreadSanitizer every thread has a fiber (and a TSan fiber) of its
// own from a pool: blocks are joined only at the end of the launch, and threads that share a pool entry count as ordered.
#include "scheduler.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

extern "C" cudaperf_emu::Dim3 threadIdx, blockIdx, blockDim, gridDim;
cudaperf_emu::Dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace cudaperf_emu {
Block block;
Thread *running = nullptr;
bool fenced = false;
static const Geometry *geometry = nullptr;
static const std::function<void()> *thread_body = nullptr;
static std::vector<Fiber *> idle;                 // without TSan: fibers with nothing to do
static std::vector<Fiber *> pool;                 // under TSan: the fiber of a thread is fixed
static char started, finished;                    // addresses that carry happens-before edges
static bool dumping = false;
static uint64_t launch_number = 0;
constexpr unsigned POOL_THREADS = 256;           // a TSan fiber costs a millisecond and a megabyte

static void enter(Thread &thread) {
  running = &thread;
  thread.state = State::RUNNING;
  threadIdx = thread.index;
  fenced = thread.fenced;
}

static void exit_thread() {
  running->state = State::EXITED;
  block.live--;
}

// What came before the launch happens before the thread.
static void begin_thread() {
  if (!tsan() || (current_fiber->launch == launch_number)) return;
  current_fiber->launch = launch_number;
  __tsan_acquire(&started);
}

// All threads of the launch happen before what follows it.
static void join_launch() {
  for (Fiber *fiber : pool) {
    if (!fiber || fiber->launch != launch_number) continue;
    __tsan_switch_to_fiber(fiber->tsan, 1);
    __tsan_release(&finished);
  }
  __tsan_switch_to_fiber(scheduler_fiber.tsan, 1);
  __tsan_acquire(&finished);
}

static void fiber_main() {
  for (;;) {
    begin_thread();
    (*thread_body)();
    exit_thread();
    bool next_is_new = !block.ready.empty() && block.threads[block.ready.front()].state == State::NEW;
    if (!tsan() && next_is_new) {
      Thread &next = block.threads[block.ready.pop()];
      next.fiber = current_fiber;
      enter(next);
      continue;
    }
    if (!tsan()) idle.push_back(current_fiber);
    running = nullptr;
    switch_to(&scheduler_fiber);
  }
}

// Blocks that far apart share fibers, and races between them go unseen: so the number differs between orders.
static uint64_t blocks_in_pool() {
  uint64_t fitting = std::max<uint64_t>(2, POOL_THREADS / block.threads.size());
  return settings.order == Settings::ASCENDING ? fitting : fitting + 1;
}

static Fiber *pooled(uint64_t block_number, const Thread &thread) {
  uint64_t per_block = block.threads.size(), blocks = blocks_in_pool();
  size_t at = block_number % blocks * per_block + thread.linear;
  if (pool.size() <= at) pool.resize(at + 1);
  if (!pool[at]) pool[at] = create_fiber(fiber_main);
  return pool[at];
}

static Fiber *any_fiber() {
  if (idle.empty()) return create_fiber(fiber_main);
  Fiber *fiber = idle.back();
  idle.pop_back();
  return fiber;
}

static void resume(Thread &thread, uint64_t block_number) {
  if (!thread.fiber) thread.fiber = tsan() ? pooled(block_number, thread) : any_fiber();
  enter(thread);
  switch_to(thread.fiber);
  running = nullptr;
}

void suspend() {
  Thread &self = *running;
  self.fenced = fenced;
  do {
    switch_to(&scheduler_fiber);
    if (dumping && __sanitizer_print_stack_trace) __sanitizer_print_stack_trace();
  } while (dumping);
}

void dump_stack(Thread &thread) {
  if (thread.state == State::EXITED || !thread.fiber) return;
  dumping = true;
  running = &thread;
  switch_to(thread.fiber);
  dumping = false;
}

void make_ready(Thread &thread) {
  thread.state = State::READY;
  block.ready.push(thread.linear);
}

void join_memory(Thread *const *threads, size_t count) {
  if (!tsan()) return;
  void *tag = malloc(8);                          // a fresh address: earlier edges are not inherited
  for (size_t i = 0; i < count; i++) {
    __tsan_switch_to_fiber(threads[i]->fiber->tsan, 1);
    __tsan_release(tag);
  }
  for (size_t i = 0; i < count; i++) {
    __tsan_switch_to_fiber(threads[i]->fiber->tsan, 1);
    __tsan_acquire(tag);
  }
  __tsan_switch_to_fiber(current_fiber->tsan, 1);
  free(tag);
}

// Position i of the chosen order of 0 .. n-1.
static uint64_t ordered(uint64_t i, uint64_t n) {
  if (settings.order == Settings::ASCENDING || n < 2) return i;
  if (settings.order == Settings::DESCENDING) return n - 1 - i;
  uint64_t step = n * 5 / 8 | 1;
  while (std::gcd(step, n) != 1) step += 2;
  return static_cast<uint64_t>((static_cast<unsigned __int128>(i) * step + n / 3) % n);
}

static void start_block(uint64_t number) {
  const Dim3 &grid = geometry->grid, &size = geometry->block;
  blockIdx = {unsigned(number % grid.x), unsigned(number / grid.x % grid.y), unsigned(number / grid.x / grid.y)};
  unsigned count = size.x * size.y * size.z;
  block.threads.resize(count);
  block.warps.assign((count + 31) / 32, Warp{0, 0});
  block.ready.clear(count);
  block.live = count;
  for (unsigned i = 0; i < count; i++) {
    Thread &thread = block.threads[i];
    thread.index = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    thread.linear = i;
    thread.state = State::NEW;
    thread.fenced = false;
    thread.fiber = nullptr;
    if (copies_in_use && !thread.copies) thread.copies.reset(new PendingCopy[MAX_COPIES]);
    thread.first_copy = thread.copy_count = 0;
    thread.groups = 0;
    block.warps[i / 32].existing |= 1u << i % 32;
    block.ready.push(unsigned(ordered(i, count)));
  }
}

// All threads of the block wait at one barrier: let them pass, with the vote's result.
static bool release_barrier() {
  int count = 0, line = block.threads[0].line;
  for (Thread &thread : block.threads) {
    if (thread.state != State::BARRIER || thread.line != line || thread.vote != block.threads[0].vote) return false;
    count += thread.predicate != 0;
  }
  int all = count == int(block.threads.size());
  Vote kind = block.threads[0].vote;
  std::vector<Thread *> everyone;
  for (size_t i = 0; i < block.threads.size(); i++) {
    Thread &thread = block.threads[ordered(i, block.threads.size())];
    thread.result = kind == Vote::COUNT ? count : kind == Vote::AND ? all : count > 0;
    everyone.push_back(&thread);
    make_ready(thread);
  }
  join_memory(everyone.data(), everyone.size());
  return true;
}

static void run_block(uint64_t number) {
  start_block(number);
  shared_begin_block();
  for (;;) {
    while (!block.ready.empty()) resume(block.threads[block.ready.pop()], number);
    if (!block.live) break;
    if (!resolve_active_masks() && !release_barrier()) report_stuck();
  }
}

void run_grid(const Geometry &launch, const std::function<void()> &body) {
  geometry = &launch;
  thread_body = &body;
  gridDim = launch.grid;
  blockDim = launch.block;
  launch_number++;
  shared_begin_launch(launch);
  if (tsan()) scheduler_fiber.tsan = __tsan_get_current_fiber(), __tsan_release(&started);
  uint64_t blocks = uint64_t(launch.grid.x) * launch.grid.y * launch.grid.z;
  for (uint64_t i = 0; i < blocks; i++) run_block(ordered(i, blocks));
  if (tsan()) join_launch();
  geometry = nullptr;
}

bool in_kernel() { return geometry != nullptr; }

const char *where() {
  static char text[256];
  if (!geometry) return "host code";
  const Dim3 &b = blockIdx, &t = threadIdx;
  snprintf(text, sizeof text, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", geometry->kernel, b.x, b.y, b.z, t.x, t.y, t.z);
  return text;
}
}  // namespace cudaperf_emu
