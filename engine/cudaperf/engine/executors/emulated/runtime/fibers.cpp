// Fibers: a stack each and a context switch without system calls, announced to AddressSanitizer and ThreadSanitizer.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime.h"

// cudaperf_switch(void **save, void *load): callee-saved registers to the old stack, from the new one.
#if defined(__x86_64__)
asm(R"(
.text
.globl cudaperf_switch
.type cudaperf_switch,@function
cudaperf_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size cudaperf_switch,.-cudaperf_switch
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl cudaperf_switch
.type cudaperf_switch,%function
cudaperf_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size cudaperf_switch,.-cudaperf_switch
)");
#else
#error "CUDA emulation needs x86-64 or aarch64"
#endif
extern "C" void cudaperf_switch(void **save, void *load);

namespace cudaperf_emu {
Fiber scheduler_fiber;
Fiber *current_fiber = &scheduler_fiber;
static Fiber *switched_from = &scheduler_fiber;
static void (*fiber_entry)();
constexpr size_t STACK = 512 << 10;  // CUDA's limit of local memory a thread
constexpr size_t GUARD = 64 << 10;
constexpr unsigned NO_SYNC = 1;

// The first thing on a new stack, and the first after every switch back: AddressSanitizer learns which stack this is.
static void arrived() {
  const void *bottom = nullptr;
  size_t size = 0;
  if (__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(current_fiber->asan_fake_stack, &bottom, &size);
  if (switched_from == &scheduler_fiber && bottom) {
    scheduler_fiber.bottom = static_cast<char *>(const_cast<void *>(bottom));
    scheduler_fiber.size = size;
  }
}

extern "C" void cudaperf_first_entry() {
  arrived();
  fiber_entry();
  __builtin_trap();  // an entry never returns
}

// A raw system call: ThreadSanitizer's mmap would count as a write to the whole stack.
static char *map_stack() {
  long address = syscall(SYS_mmap, nullptr, STACK + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == -1 || mprotect(reinterpret_cast<void *>(address), GUARD, PROT_NONE)) {
    log_line("infrastructure\tno memory for the stack of an emulated thread");
    stop();
  }
  return reinterpret_cast<char *>(address) + GUARD;
}

Fiber *create_fiber(void (*entry)()) {
  fiber_entry = entry;
  auto *fiber = new Fiber;
  fiber->bottom = map_stack();
  fiber->size = STACK;
  if (tsan()) {
    if (!scheduler_fiber.tsan) scheduler_fiber.tsan = __tsan_get_current_fiber();
    fiber->tsan = __tsan_create_fiber(0);
  }
  auto *top = reinterpret_cast<void **>(fiber->bottom + STACK);
#if defined(__x86_64__)
  *--top = nullptr;                                        // keeps the stack aligned as after a call; ends back-traces
  *--top = reinterpret_cast<void *>(cudaperf_first_entry);
  for (int i = 0; i < 6; i++) *--top = nullptr;
#else
  top -= 20;
  for (int i = 0; i < 20; i++) top[i] = nullptr;
  top[11] = reinterpret_cast<void *>(cudaperf_first_entry);
#endif
  fiber->stack_pointer = top;
  return fiber;
}

void switch_to(Fiber *to) {
  Fiber *from = current_fiber;
  if (__sanitizer_start_switch_fiber) __sanitizer_start_switch_fiber(&from->asan_fake_stack, to->bottom, to->size);
  if (tsan()) __tsan_switch_to_fiber(to->tsan, NO_SYNC);
  switched_from = from;
  current_fiber = to;
  cudaperf_switch(&from->stack_pointer, to->stack_pointer);
  arrived();
}
}  // namespace cudaperf_emu
