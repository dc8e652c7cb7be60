// Device memory: host allocations between guard zones, filled with the poison byte, and closed to host code (AddressSanitizer
// reports a host access) except while device work runs. A buffer that the host filled as a whole and never read back was an
// input: what it held is remembered, and a kernel that changed it is told of in the log.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "streams.h"

namespace cudaperf_emu {
struct Allocation {  // base is null for a __device__ variable; released: by cudaFreeAsync, once its stream gets there
  size_t size;
  char *base;
  unsigned number;
  bool released = false;
  bool input = false;
  uint64_t uploaded = 0;  // the checksum of what an input held
};
// Never destroyed: they are read after the program's own static destructors.
static auto &allocations() {
  static auto *all = new std::map<uintptr_t, Allocation>;
  return *all;
}
static auto &host_registered() {
  static auto *all = new std::set<void *>;
  return *all;
}
static size_t allocated = 0;
static unsigned allocation_count = 0;
static bool open = false;

static size_t guard_size(size_t size) {
  size_t wanted = size < 4096 ? 4096 : size > (1 << 20) ? 1 << 20 : size;
  return asan() ? (wanted + 255) / 256 * 256 : 256;
}

static const std::pair<const uintptr_t, Allocation> *find(const void *address, size_t slack = 0) {
  auto key = reinterpret_cast<uintptr_t>(address);
  auto after = allocations().upper_bound(key);
  if (after != allocations().begin()) {
    auto &before = *std::prev(after);
    if (key < before.first + before.second.size + slack || key == before.first) return &before;
  }
  if (after != allocations().end() && key + slack >= after->first) return &*after;
  return nullptr;
}

bool device_range(const void *address, size_t count) {
  auto *found = find(address);
  if (!found) return false;
  auto key = reinterpret_cast<uintptr_t>(address);
  return key >= found->first && count <= found->second.size - (key - found->first);
}

void open_device_memory() {
  if (open) return;
  open = true;
  for (auto &[address, a] : allocations())
    if (a.base) unpoison(reinterpret_cast<void *>(address), a.size);
}
void close_device_memory() {
  open = false;
  for (auto &[address, a] : allocations())
    if (a.base) poison(reinterpret_cast<void *>(address), a.size);
}

// Read without the sanitizers' knowledge, as all of this file.
static uint64_t checksum(const char *data, size_t size) {
  uint64_t sum = size, word;
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    __builtin_memcpy(&word, data + i, 8);
    sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
    sum ^= sum >> 29;
  }
  for (; i < size; i++) sum = (sum ^ static_cast<unsigned char>(data[i])) * 0x9E3779B97F4A7C15u;
  return sum;
}

void note_upload(const void *target, size_t size) {
  auto found = allocations().find(reinterpret_cast<uintptr_t>(target));
  if (found == allocations().end() || !found->second.base) return;
  found->second.input = size == found->second.size;
  if (found->second.input) found->second.uploaded = checksum(static_cast<const char *>(target), size);
}
void note_download(const void *source) {
  auto *found = find(source);
  if (found) allocations()[found->first].input = false;
}
static void report_changed(uintptr_t address, const Allocation &a) {
  if (a.input && checksum(reinterpret_cast<const char *>(address), a.size) != a.uploaded) log_line("changed\t%zu", a.size);
}

static int allocate(void **pointer, size_t size) {
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  size_t guard = guard_size(size);
  void *base = nullptr;
  bool fits = size <= settings.device_bytes && allocated <= settings.device_bytes - size;
  if (!fits || posix_memalign(&base, 256, size + 2 * guard))
    return fail(cudaErrorMemoryAllocation, nullptr, "%zu bytes asked for, %zu of %zu in use", size, allocated, settings.device_bytes);
  allocated += size;
  char *data = static_cast<char *>(base) + guard;
  fill(data, settings.poison, size);
  poison(base, guard);
  poison(data + size, guard);
  if (!open) poison(data, size);
  allocations()[reinterpret_cast<uintptr_t>(data)] = {size, static_cast<char *>(base), ++allocation_count};
  *pointer = data;
  return cudaSuccess;
}

static int release(void *pointer) {
  if (!pointer) return cudaSuccess;
  auto found = allocations().find(reinterpret_cast<uintptr_t>(pointer));
  if (found == allocations().end() || !found->second.base)
    return fail(cudaErrorInvalidValue, nullptr, "cudaFree of a pointer that cudaMalloc did not return, or that is already freed");
  Allocation gone = found->second;
  report_changed(found->first, gone);
  allocated -= gone.size;
  allocations().erase(found);
  unpoison(gone.base, gone.size + 2 * guard_size(gone.size));
  free(gone.base);
  return cudaSuccess;
}

bool describe_device(uintptr_t address, char *text, size_t size) {
  auto *found = find(reinterpret_cast<void *>(address), 1 << 20);
  if (!found) return false;
  uintptr_t begin = found->first, end = begin + found->second.size;
  unsigned number = found->second.number;
  size_t bytes = found->second.size;
  if (address < begin) snprintf(text, size, "%zu bytes before device buffer %u of %zu bytes", size_t(begin - address), number, bytes);
  else if (address >= end) snprintf(text, size, "%zu bytes past the end of device buffer %u of %zu bytes", size_t(address - end), number, bytes);
  else snprintf(text, size, "%zu bytes inside device buffer %u of %zu bytes", size_t(address - begin), number, bytes);
  return true;
}

void check_pointer(const char *kernel, int line, unsigned position, const void *pointer) {
  if (!pointer || find(pointer, 1 << 20) || !__asan_locate_address) return;
  char name[64];
  void *region;
  size_t size;
  const char *kind = __asan_locate_address(const_cast<void *>(pointer), name, sizeof name, &region, &size);
  bool host = kind && (!strcmp(kind, "heap") || !strcmp(kind, "stack") || !strcmp(kind, "global"));
  if (host) hazard("memory", line, 0, "argument %u of kernel %s points to host memory (%s)", position + 1, kernel, kind);
}

void report_at_end() {
  size_t count = 0, bytes = 0;
  for (auto &[address, a] : allocations()) {
    report_changed(address, a);
    if (a.base && !a.released) count++, bytes += a.size;
  }
  if (count) log_line("leak\t%zu\t%zu", count, bytes);
}
}  // namespace cudaperf_emu

using namespace cudaperf_emu;
extern "C" {
cudaError_t cudaMalloc(void **pointer, size_t size) {
  if (capturing()) return cudaError_t(fail(cudaErrorStreamCaptureUnsupported, nullptr, "cudaMalloc during stream capture"));
  if (refused("cudaMalloc")) return cudaErrorMemoryAllocation;
  return cudaError_t(allocate(pointer, size));
}
cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t) { return cudaMalloc(pointer, size); }
cudaError_t cudaFree(void *pointer) {
  if (!pointer) return cudaSuccess;
  run_everything();
  return cudaError_t(release(pointer));
}
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
  if (capturing()) return cudaError_t(fail(cudaErrorStreamCaptureUnsupported, nullptr, "cudaFreeAsync during stream capture"));
  auto found = allocations().find(reinterpret_cast<uintptr_t>(pointer));
  if (pointer && found == allocations().end()) return cudaError_t(release(pointer));
  if (pointer) found->second.released = true;
  enqueue(stream, [=] { release(pointer); });
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void **pointer, size_t size) {
  *pointer = malloc(size ? size : 1);
  if (*pointer) fill(*pointer, settings.poison, size);
  return *pointer ? cudaSuccess : cudaError_t(fail(cudaErrorMemoryAllocation, nullptr, "%zu bytes of pinned host memory", size));
}
cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned) { return cudaMallocHost(pointer, size); }
cudaError_t cudaFreeHost(void *pointer) {
  free(pointer);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned) {
  if (!pointer || !size) return cudaError_t(fail(cudaErrorInvalidValue, nullptr, "cudaHostRegister of nothing"));
  bool fresh = host_registered().insert(pointer).second;
  return fresh ? cudaSuccess : cudaError_t(fail(cudaErrorHostMemoryAlreadyRegistered, nullptr, "cudaHostRegister"));
}
cudaError_t cudaHostUnregister(void *pointer) {
  return host_registered().erase(pointer) ? cudaSuccess : cudaError_t(fail(cudaErrorHostMemoryNotRegistered, nullptr, "cudaHostUnregister"));
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
  *total = settings.device_bytes;
  *free_bytes = settings.device_bytes - allocated;
  return cudaSuccess;
}
cudaError_t cudaperf_register_symbol(const void *symbol, size_t size) {
  allocations()[reinterpret_cast<uintptr_t>(symbol)] = {size, nullptr, 0};
  return cudaSuccess;
}
}
