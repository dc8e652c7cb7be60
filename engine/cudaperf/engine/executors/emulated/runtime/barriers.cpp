// Scheduling points: block barriers, warp collectives, fences, asynchronous copies; and what to say when nothing can go on.
#include <cstdio>
#include <cstring>
#include <string>

#include <time.h>

#include "scheduler.h"

extern "C" cudaperf_emu::Dim3 blockIdx;

namespace cudaperf_emu {

Thread &expect_thread(const char *what) {
  if (!running) hazard("undefined", 0, 0, "%s is called outside of a kernel", what);
  return *running;
}

int barrier_vote(Vote kind, int predicate, int line) {
  Thread &self = expect_thread("__syncthreads");
  self.state = State::BARRIER;
  self.line = line;
  self.vote = kind;
  self.predicate = predicate;
  suspend();
  return int(self.result);
}
void barrier(int line) { barrier_vote(Vote::COUNT, 0, line); }

static const char *name(Collective kind) {
  static const char *const names[] = {"__syncwarp", "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync",
                                      "a vote", "__match_any_sync", "__match_all_sync", "a warp-wide matrix or reduction step"};
  return names[int(kind)];
}

// The lane that `self` reads, or -1 where the value is undefined.
static int source_lane(const Thread &self, unsigned lanes) {
  int me = int(lane(self)), width = self.operands.width, by = self.operands.parameter;
  int first = me & ~(width - 1), last = first + width - 1, from = me;
  if (self.kind == Collective::SHFL) from = first | (by & (width - 1));
  if (self.kind == Collective::SHFL_UP && me - by >= first) from = me - by;
  if (self.kind == Collective::SHFL_DOWN && me + by <= last) from = me + by;
  if (self.kind == Collective::SHFL_XOR && (me ^ by) <= last) from = me ^ by;
  return from >= 0 && from < 32 && (lanes >> from & 1) ? from : -1;
}

static uint64_t answer(const Thread &self, unsigned lanes) {
  uint64_t votes = 0, equal = 0, undefined;
  memset(&undefined, settings.poison, sizeof undefined);
  for (unsigned i = 0; i < 32; i++) {
    if (!(lanes >> i & 1)) continue;
    uint64_t value = in_warp(self, i).operands.value;
    votes |= uint64_t(value != 0) << i;
    equal |= uint64_t(value == self.operands.value) << i;
  }
  switch (self.kind) {
    case Collective::BALLOT: return votes;
    case Collective::MATCH_ANY: return equal;
    case Collective::MATCH_ALL: return equal == lanes ? lanes : 0;
    case Collective::SYNC: case Collective::CUSTOM: return 0;
    default: break;
  }
  int from = source_lane(self, lanes);
  return from < 0 ? undefined : in_warp(self, unsigned(from)).operands.value;
}

static void run_exchange(const Thread &self, unsigned lanes) {
  static unsigned char in[32][EXCHANGE_BYTES], out[32][EXCHANGE_BYTES];
  fill(in, settings.poison, sizeof in);
  for (unsigned i = 0; i < 32; i++)
    if (lanes >> i & 1) copy_bytes(in[i], in_warp(self, i).in, in_warp(self, i).in_size);
  self.resolve(lanes, in, out);
  for (unsigned i = 0; i < 32; i++)
    if (lanes >> i & 1) copy_bytes(in_warp(self, i).out, out[i], in_warp(self, i).out_size);
}

static bool same_step(const Thread &a, const Thread &b) {
  return b.state == State::COLLECTIVE && a.kind == b.kind && a.mask == b.mask && a.resolve == b.resolve;
}

// True if the running thread was the last of its mask: the results of all lanes are there.
static bool complete(Thread &self) {
  Warp &warp = block.warps[self.linear / 32];
  unsigned lanes = self.mask & warp.existing;
  if (warp.collectives < unsigned(__builtin_popcount(lanes))) return false;
  for (unsigned i = 0; i < 32; i++)
    if ((lanes >> i & 1) && !same_step(self, in_warp(self, i))) return false;
  if (self.kind == Collective::CUSTOM) run_exchange(self, lanes);
  Thread *members[32];
  unsigned count = 0;
  for (unsigned i = 0; i < 32; i++)
    if (lanes >> i & 1) members[count++] = &in_warp(self, i);
  for (unsigned i = 0; i < count; i++) members[i]->result = answer(*members[i], lanes);
  if (self.kind == Collective::SYNC) join_memory(members, count);
  for (unsigned i = 0; i < count; i++)
    if (members[i] != &self) make_ready(*members[i]);
  self.state = State::RUNNING;
  warp.collectives -= count;
  return true;
}

static void step(Thread &self, Collective kind, unsigned mask, int line) {
  if (!(mask >> lane(self) & 1))
    hazard("barrier", line, 0, "%s: lane %u calls with the mask 0x%08x, which does not name it (%s)", name(kind), lane(self), mask, where());
  self.state = State::COLLECTIVE;
  self.kind = kind;
  self.mask = mask;
  self.line = line;
  block.warps[self.linear / 32].collectives++;
  if (!complete(self)) suspend();
}

uint64_t collective(Collective kind, unsigned mask, Operands operands, int line) {
  Thread &self = expect_thread(name(kind));
  int width = operands.width;
  if (width < 1 || width > 32 || (width & (width - 1)))
    hazard("undefined", line, 0, "%s: the width %d is not a power of two up to 32 (%s)", name(kind), width, where());
  self.operands = operands;
  self.resolve = nullptr;
  step(self, kind, mask, line);
  return self.result;
}

void exchange(Resolve resolve, unsigned mask, const void *in, size_t in_size, void *out, size_t out_size, int line) {
  Thread &self = expect_thread("a warp collective");
  self.resolve = resolve;
  self.operands = {0, 0, 32};
  self.in = in, self.in_size = in_size, self.out = out, self.out_size = out_size;
  step(self, Collective::CUSTOM, mask, line);
}

unsigned active_mask(int line) {
  Thread &self = expect_thread("__activemask");
  self.state = State::ACTIVE_MASK;
  self.line = line;
  suspend();
  return unsigned(self.result);
}

// Lanes that wait for their active mask get it once nothing else can run: those at the same line are active together.
bool resolve_active_masks() {
  for (Thread &first : block.threads) {
    if (first.state != State::ACTIVE_MASK) continue;
    unsigned mask = 0, existing = block.warps[first.linear / 32].existing;
    auto together = [&](unsigned i) {
      return (existing >> i & 1) && in_warp(first, i).state == State::ACTIVE_MASK && in_warp(first, i).line == first.line;
    };
    for (unsigned i = 0; i < 32; i++) mask |= unsigned(together(i)) << i;
    for (unsigned i = 0; i < 32; i++) {
      if (!(mask >> i & 1)) continue;
      in_warp(first, i).result = mask;
      make_ready(in_warp(first, i));
    }
    return true;
  }
  return false;
}

void fence() {
  expect_thread("__threadfence");
  fenced = true;
}

void copy_issue(void *target, const void *source, unsigned size) {
  Thread &self = expect_thread("cp_async");
  if (self.copy_count == MAX_COPIES) log_line("infrastructure\tmore than %u asynchronous copies of one thread under way", MAX_COPIES), stop();
  self.copies[(self.first_copy + self.copy_count++) % MAX_COPIES] = {target, source, size, self.groups};
}
void copy_commit() { expect_thread("cp_async_commit").groups++; }
bool copy_next(int groups_left, PendingCopy *copy) {
  Thread &self = expect_thread("cp_async_wait");
  if (!self.copy_count || self.copies[self.first_copy].group >= self.groups - groups_left) return false;
  *copy = self.copies[self.first_copy];
  self.first_copy = (self.first_copy + 1) % MAX_COPIES, self.copy_count--;
  return true;
}
uint64_t clock_ticks() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

static Thread *first_where(State state, const Thread *unlike = nullptr) {
  for (Thread &thread : block.threads)
    if (thread.state == state && (!unlike || thread.line != unlike->line || thread.vote != unlike->vote)) return &thread;
  return nullptr;
}

static void stacks(Thread *first, Thread *second) {
  fprintf(stderr, "CUDAPERF-STACK first\n");
  if (first) dump_stack(*first);
  fprintf(stderr, "CUDAPERF-STACK second\n");
  if (second) dump_stack(*second);
}

static std::string place(const Thread &thread) {
  char text[64];
  snprintf(text, sizeof text, "thread (%u,%u,%u)", thread.index.x, thread.index.y, thread.index.z);
  return text;
}

[[noreturn]] static void collective_stuck(Thread &waiting) {
  unsigned lanes = waiting.mask & block.warps[waiting.linear / 32].existing, exited = 0;
  Thread *other = nullptr;
  for (unsigned i = 0; i < 32; i++) {
    if (!(lanes >> i & 1) || same_step(waiting, in_warp(waiting, i))) continue;
    if (in_warp(waiting, i).state == State::EXITED) exited |= 1u << i;
    else if (!other) other = &in_warp(waiting, i);
  }
  stacks(&waiting, other);
  if (other)
    hazard("barrier", waiting.line, other->line, "%s with mask 0x%08x: %s waits, and %s, which the mask names, waits elsewhere or with another mask",
           name(waiting.kind), waiting.mask, place(waiting).c_str(), place(*other).c_str());
  hazard("barrier", waiting.line, 0, "%s with mask 0x%08x names lanes that have returned (lanes 0x%08x); %s waits for them", name(waiting.kind),
         waiting.mask, exited, place(waiting).c_str());
}

void report_stuck() {
  if (Thread *waiting = first_where(State::COLLECTIVE)) collective_stuck(*waiting);
  Thread *first = first_where(State::BARRIER), *second = first_where(State::BARRIER, first);
  unsigned exited = 0;
  for (Thread &thread : block.threads) exited += thread.state == State::EXITED;
  stacks(first, second);
  if (second)
    hazard("barrier", first->line, second->line, "threads of one block wait at different barriers: %s and %s of block (%u,%u,%u)",
           place(*first).c_str(), place(*second).c_str(), blockIdx.x, blockIdx.y, blockIdx.z);
  hazard("barrier", first->line, 0,
         "%u of %zu threads of block (%u,%u,%u) returned or skipped the barrier that the others wait at: undefined by the CUDA programming guide",
         exited, block.threads.size(), blockIdx.x, blockIdx.y, blockIdx.z);
}
}  // namespace cudaperf_emu
