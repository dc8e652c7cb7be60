// Shared memory: an arena a block, arrays placed at their first use in a launch with poisoned gaps between them, filled with
// the poison byte at their first use in a block. CUDA's limits on static and dynamic shared memory are checked here.
#include <sys/mman.h>

#include <cstdio>
#include <vector>

#include "runtime.h"

namespace cudaperf_emu {
constexpr size_t ARENA = 1 << 20, GAP = 1024, STATIC_LIMIT = 48 << 10, ALIGN = 128;
struct Array { const char *name; size_t offset, size; };

bool copies_in_use = false;
void register_copies() { copies_in_use = true; }

static char *arena = nullptr;
static std::vector<Array> arrays;                 // of this launch; the first is the dynamic one
static size_t used, static_bytes;
static uint64_t arena_launch = 0, arena_block = 0, mapped_block = 0;
static char mapped;                               // the address that orders threads after the mapping
static const Geometry *shared_launch = nullptr;

// Under ThreadSanitizer every block gets a new mapping, which forgets the accesses of other blocks. The scheduler makes it, and
// every thread that uses shared memory is ordered after it.
static void map_arena() {
  if (arena && !tsan()) return;
  if (tsan()) __tsan_switch_to_fiber(scheduler_fiber.tsan, 1);
  if (arena) munmap(arena, ARENA);
  void *address = mmap(nullptr, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) log_line("infrastructure\tno memory for emulated shared memory"), stop();
  arena = static_cast<char *>(address);
  if (!tsan()) return poison(arena, ARENA);
  __tsan_release(&mapped);
  __tsan_switch_to_fiber(current_fiber->tsan, 1);
}

static size_t place(const char *name, size_t size) {
  size_t offset = used;
  arrays.push_back({name, offset, size});
  used = (offset + size + GAP + ALIGN - 1) / ALIGN * ALIGN;
  return offset;
}

static void open_array(const Array &array) {
  unpoison(arena + array.offset, array.size);
  fill(arena + array.offset, settings.poison, array.size);
}

void shared_begin_launch(const Geometry &launch) {
  shared_launch = &launch;
  if (arena) poison(arena, used);                 // close what the last launch opened
  arena_launch++;
  arrays.clear();
  used = GAP * 4;
  static_bytes = 0;
  place("dynamic shared memory", launch.dynamic_shared);
}

void shared_begin_block() { arena_block++; }

// The arena of the running block, made at the block's first use of shared memory.
static void enter_arena() {
  if (mapped_block != arena_block) {
    map_arena();
    mapped_block = arena_block;
    poison(arena, used);
    if (shared_launch->dynamic_shared) open_array(arrays[0]);
  }
  if (tsan()) __tsan_acquire(&mapped);
}

static void check_limits(const char *name, size_t size) {
  if (static_bytes > STATIC_LIMIT)
    log_line("error\t1\tcudaErrorInvalidValue\t%s\t%zu bytes of static shared memory with %s (%zu bytes): the limit is %zu", shared_launch->kernel,
             static_bytes, name, size, STATIC_LIMIT), stop();
  if (static_bytes + shared_launch->dynamic_shared > settings.shared_optin)
    log_line("error\t1\tcudaErrorInvalidValue\t%s\tstatic and dynamic shared memory together exceed %zu bytes", shared_launch->kernel,
             settings.shared_optin), stop();
}

void *shared_array(Slot *slot, size_t size, size_t align, const char *name, int line) {
  if (!in_kernel()) hazard("undefined", line, 0, "the shared array %s is used outside of a kernel", name);
  if (align > ALIGN) hazard("undefined", line, 0, "the shared array %s asks for an alignment of %zu", name, align);
  enter_arena();
  if (slot->launch != arena_launch) {
    static_bytes += size;
    check_limits(name, size);
    slot->offset = place(name, size);
    slot->launch = arena_launch;
  }
  if (slot->block != arena_block) open_array({name, slot->offset, size});
  slot->block = arena_block;
  return arena + slot->offset;
}

void *dynamic_shared() {
  if (!in_kernel()) hazard("undefined", 0, 0, "dynamic shared memory is used outside of a kernel");
  enter_arena();
  return arena + arrays[0].offset;
}

unsigned shared_address(const void *pointer) {
  auto *bytes = static_cast<const char *>(pointer);
  if (!in_kernel() || bytes < arena || bytes >= arena + ARENA)
    hazard("memory", 0, 0, "a pointer that is not to shared memory is used as one (%s)", where());
  return unsigned(bytes - arena);
}
void *shared_pointer(unsigned address) { return arena + address; }

bool describe_shared(uintptr_t address, char *text, size_t size) {
  uintptr_t base = reinterpret_cast<uintptr_t>(arena);
  if (!arena || address < base || address >= base + ARENA) return false;
  const Array *nearest = nullptr;
  size_t best = ARENA, offset = address - base;
  for (const Array &array : arrays) {
    size_t distance = offset < array.offset ? array.offset - offset : offset >= array.offset + array.size ? offset - array.offset - array.size + 1 : 0;
    if (distance < best && (array.size || arrays.size() == 1)) best = distance, nearest = &array;
  }
  if (!nearest) return false;
  bool before = offset < nearest->offset;
  snprintf(text, size, "%zu bytes %s shared memory %s of %zu bytes", before ? nearest->offset - offset : offset - nearest->offset - nearest->size,
           before ? "before" : "past the end of", nearest->name, nearest->size);
  return true;
}
}  // namespace cudaperf_emu
