// What the parts of the emulated CUDA runtime share. Built once, without sanitizer instrumentation, and linked into the
// AddressSanitizer and the ThreadSanitizer program alike: sanitizer entry points are weak and null where they do not exist.
// The scheduler is single-threaded: all CUDA threads are fibers of one host thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "../include/cudaperf_emulation/interface.h"

#define WEAK __attribute__((weak))
extern "C" {
WEAK void __sanitizer_start_switch_fiber(void **, const void *, size_t);
WEAK void __sanitizer_finish_switch_fiber(void *, const void **, size_t *);
WEAK void __sanitizer_print_stack_trace();
WEAK void __asan_poison_memory_region(const volatile void *, size_t);
WEAK void __asan_unpoison_memory_region(const volatile void *, size_t);
WEAK void *__asan_get_report_address();
WEAK int __asan_get_report_access_type();
WEAK size_t __asan_get_report_access_size();
WEAK const char *__asan_locate_address(void *, char *, size_t, void **, size_t *);
WEAK void *__tsan_get_current_fiber();
WEAK void *__tsan_create_fiber(unsigned);
WEAK void __tsan_switch_to_fiber(void *, unsigned);
WEAK void __tsan_acquire(void *);
WEAK void __tsan_release(void *);
}

namespace cudaperf_emu {

// --- settings.cpp: the environment, limits, the log that the Python side reads ---
struct Settings {
  unsigned char poison = 0xFF;         // byte that fills memory never written
  enum Order { ASCENDING, DESCENDING, SHUFFLED } order = ASCENDING;
  size_t device_bytes = size_t(4) << 30;
  size_t shared_optin = 232448;        // dynamic shared memory that a kernel may ask for
  int architecture = 90;
};
extern Settings settings;
bool asan();
bool tsan();
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void hazard(const char *kind, int line, int other_line, const char *format, ...) __attribute__((format(printf, 4, 5)));
[[noreturn]] void stop();              // ends the process with the status that means "see the log"
void fill(void *target, unsigned char byte, size_t count);          // unseen by the sanitizers
void copy_bytes(void *target, const void *source, size_t count);    // unseen by the sanitizers
void poison(const void *address, size_t count);
void unpoison(const void *address, size_t count);

// --- fibers.cpp ---
struct Fiber {
  void *stack_pointer = nullptr;
  char *bottom = nullptr;
  size_t size = 0;
  void *asan_fake_stack = nullptr;
  void *tsan = nullptr;
  uint64_t launch = 0;                 // the last launch that it ran threads of
};
extern Fiber scheduler_fiber;
extern Fiber *current_fiber;
Fiber *create_fiber(void (*entry)());
void switch_to(Fiber *to);

// --- scheduler.cpp ---
struct Geometry {
  const char *kernel;
  int line;
  Dim3 grid, block;
  size_t dynamic_shared;
};
void run_grid(const Geometry &geometry, const std::function<void()> &thread_body);
const char *where();                   // "kernel k, block (0,0,0), thread (3,0,0)", or "host code"
bool in_kernel();

// --- shared.cpp ---
extern bool copies_in_use;             // the text under test starts asynchronous copies
void shared_begin_launch(const Geometry &geometry);
void shared_begin_block();
bool describe_shared(uintptr_t address, char *text, size_t size);

// --- memory.cpp ---
void open_device_memory();             // while device work runs
void close_device_memory();            // while host code runs
bool describe_device(uintptr_t address, char *text, size_t size);
bool device_range(const void *address, size_t count);
void note_upload(const void *target, size_t size);  // a copy from the host has filled device memory
void note_download(const void *source);             // a copy to the host has read it
void report_at_end();                               // leaks, and inputs that kernels changed

// --- streams.cpp ---
int fail(int error, const char *kernel, const char *format, ...) __attribute__((format(printf, 3, 4)));
}  // namespace cudaperf_emu
