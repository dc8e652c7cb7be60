// Settings from the environment, the log, the process's limits, and memory operations that sanitizers do not see.
#include <sys/resource.h>
#include <unistd.h>
#include <fcntl.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime.h"

namespace cudaperf_emu {
Settings settings;
static int log_file = 2;
constexpr int SEE_LOG = 67;

bool asan() { return __asan_poison_memory_region != nullptr; }
bool tsan() { return __tsan_create_fiber != nullptr; }

static void write_line(const char *format, va_list arguments) {
  char text[2048];
  int n = vsnprintf(text, sizeof text - 1, format, arguments);
  n = n < 0 ? 0 : n > int(sizeof text) - 2 ? int(sizeof text) - 2 : n;
  text[n] = '\n';
  if (write(log_file, text, n + 1) < 0) _exit(SEE_LOG);
}

void log_line(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
}

void hazard(const char *kind, int line, int other_line, const char *format, ...) {
  char text[1536];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  bool in_thread = current_fiber != &scheduler_fiber;
  if (in_thread && __sanitizer_print_stack_trace) fprintf(stderr, "CUDAPERF-STACK first\n"), __sanitizer_print_stack_trace();
  log_line("hazard\t%s\t%d\t%d\t%s", kind, line, other_line, text);
  stop();
}

void stop() {
  fflush(nullptr);
  _exit(SEE_LOG);
}

// Volatile, so that the compiler does not turn the loops into calls of memset and memcpy, which sanitizers intercept.
void fill(void *target, unsigned char byte, size_t count) {
  auto *bytes = static_cast<volatile unsigned char *>(target);
  uint64_t wide;
  __builtin_memset(&wide, byte, sizeof wide);
  size_t i = 0;
  for (; i < count && (reinterpret_cast<uintptr_t>(bytes + i) & 7); i++) bytes[i] = byte;
  for (; i + 8 <= count; i += 8) *reinterpret_cast<volatile uint64_t *>(bytes + i) = wide;
  for (; i < count; i++) bytes[i] = byte;
}

void copy_bytes(void *target, const void *source, size_t count) {
  auto *to = static_cast<volatile unsigned char *>(target);
  auto *from = static_cast<const volatile unsigned char *>(source);
  for (size_t i = 0; i < count; i++) to[i] = from[i];
}

void poison(const void *address, size_t count) {
  if (asan() && count) __asan_poison_memory_region(address, count);
}
void unpoison(const void *address, size_t count) {
  if (asan() && count) __asan_unpoison_memory_region(address, count);
}
unsigned char poison_byte() { return settings.poison; }

static unsigned long long number(const char *name, unsigned long long otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtoull(text, nullptr, 0) : otherwise;
}

static void limit(int resource, rlim_t value) {
  rlimit limits{value, value};
  if (setrlimit(resource, &limits)) log_line("infrastructure\tsetrlimit failed");
}

__attribute__((constructor)) static void read_settings() {
  if (const char *path = getenv("CUDAPERF_LOG")) log_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  settings.poison = static_cast<unsigned char>(number("CUDAPERF_POISON", settings.poison));
  settings.device_bytes = number("CUDAPERF_DEVICE_BYTES", settings.device_bytes);
  settings.shared_optin = number("CUDAPERF_SHARED_OPTIN", settings.shared_optin);
  settings.architecture = static_cast<int>(number("CUDAPERF_ARCHITECTURE", settings.architecture));
  const char *order = getenv("CUDAPERF_ORDER");
  if (order && !strcmp(order, "descending")) settings.order = Settings::DESCENDING;
  if (order && !strcmp(order, "shuffled")) settings.order = Settings::SHUFFLED;
  limit(RLIMIT_CORE, 0);
  if (unsigned long long seconds = number("CUDAPERF_CPU_SECONDS", 0)) limit(RLIMIT_CPU, seconds);
  if (unsigned long long bytes = number("CUDAPERF_FILE_BYTES", 0)) limit(RLIMIT_FSIZE, bytes);
}
__attribute__((destructor)) static void at_end() { report_at_end(); }
}  // namespace cudaperf_emu

// AddressSanitizer calls this once its report is printed: what the address means in CUDA's terms.
extern "C" void __asan_on_error() {
  using namespace cudaperf_emu;
  char text[256] = "";
  uintptr_t address = reinterpret_cast<uintptr_t>(__asan_get_report_address());
  bool known = describe_shared(address, text, sizeof text) || describe_device(address, text, sizeof text);
  log_line("access\t%s\t%zu\t%s\t%s", __asan_get_report_access_type() ? "write" : "read", __asan_get_report_access_size(),
           known ? text : "", where());
}
