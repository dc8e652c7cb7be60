// The boundary between code under test (instrumented) and the emulated runtime (not instrumented). No CUDA names here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

namespace cudaperf_emu {

struct Dim3 { unsigned x, y, z; };

// Launches. `name` and `line` are the kernel's and the launch's, for messages.
struct Call { const char *name; int line; Dim3 grid, block; std::size_t shared; void *stream; };
void submit(const Call &call, const void *function, std::function<void()> body);
void check_pointer(const char *kernel, int line, unsigned position, const void *pointer);
void register_bounds(const void *function, int threads);

// Shared memory. One Slot for each `__shared__` declaration in the text.
void register_copies();
struct Slot { std::size_t offset; std::uint64_t launch, block; };
void *shared_array(Slot *slot, std::size_t size, std::size_t align, const char *name, int line);
void *dynamic_shared();
unsigned shared_address(const void *pointer);     // as the hardware counts: bytes from the start of the block's shared memory
void *shared_pointer(unsigned address);

// Barriers and warp collectives: scheduling points.
enum class Vote { COUNT, AND, OR };
void barrier(int line);
int barrier_vote(Vote kind, int predicate, int line);
enum class Collective { SYNC, SHFL, SHFL_UP, SHFL_DOWN, SHFL_XOR, BALLOT, MATCH_ANY, MATCH_ALL, CUSTOM };
struct Operands { std::uint64_t value; int parameter; int width; };
std::uint64_t collective(Collective kind, unsigned mask, Operands operands, int line);
unsigned active_mask(int line);
// All lanes of `mask` give `size` bytes; `resolve` sees every lane's input and writes every lane's output.
constexpr std::size_t EXCHANGE_BYTES = 256;
using Resolve = void (*)(unsigned mask, unsigned char (*in)[EXCHANGE_BYTES], unsigned char (*out)[EXCHANGE_BYTES]);
void exchange(Resolve resolve, unsigned mask, const void *in, std::size_t in_size, void *out, std::size_t out_size, int line);

// Fences: atomics after a fence order memory for the race detector.
void fence();
extern bool fenced;

// Asynchronous copies into shared memory: visible only after the wait.
struct PendingCopy { void *target; const void *source; unsigned size; int group; };
void copy_issue(void *target, const void *source, unsigned size);
void copy_commit();
bool copy_next(int groups_left, PendingCopy *copy);  // the next copy to make, oldest group first
unsigned char poison_byte();
std::uint64_t clock_ticks();
}  // namespace cudaperf_emu
