// Streams, events, graphs by capture, copies and launches of the emulated runtime API.
#include "streams.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <list>
#include <map>

namespace cudaperf_emu {
static CudaperfStream legacy;
static std::list<CudaperfStream> streams, destroyed;
static int last_error = cudaSuccess, capture_count = 0;
// What is known of a kernel by its address. Filled by static constructors, so made on first use.
static auto &bounds() {
  static auto *all = new std::map<const void *, int>;
  return *all;
}
static auto &dynamic_limits() {
  static auto *all = new std::map<const void *, int>;
  return *all;
}

static CudaperfStream &of(cudaStream_t stream) { return stream ? *stream : legacy; }
bool capturing() { return capture_count > 0; }
bool refused(const char *call) {
  static const char *text = getenv("CUDAPERF_EMULATED_FAIL_AT");
  static long left = text ? atol(text) : 0;
  if (left <= 0 || --left > 0) return false;
  log_line("refused\t%s", call);
  last_error = cudaErrorUnknown;
  return true;
}

int fail(int error, const char *kernel, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  last_error = error;
  log_line("error\t%d\t%s\t%s\t%s", error, cudaGetErrorName(cudaError_t(error)), kernel ? kernel : "", text);
  return error;
}

static void run_pending(CudaperfStream &stream) {
  open_device_memory();
  while (!stream.pending.empty()) {
    Operation operation = std::move(stream.pending.front());
    stream.pending.pop_front();
    operation();
  }
}

static void run_blocking() {
  for (auto &stream : streams)
    if (!stream.non_blocking) run_pending(stream);
}
void run_stream(cudaStream_t stream) {
  if (!stream) run_blocking();
  run_pending(of(stream));
  close_device_memory();
}
void run_everything() {
  for (auto &stream : destroyed) run_pending(stream);
  destroyed.clear();
  for (auto &stream : streams) run_pending(stream);
  run_pending(legacy);
  close_device_memory();
}

void enqueue(cudaStream_t stream, Operation operation) {
  CudaperfStream &target = of(stream);
  if (target.capture) return target.capture->operations.push_back(std::move(operation));
  if (!stream) run_blocking();
  else if (!target.non_blocking) run_pending(legacy);
  close_device_memory();
  target.pending.push_back(std::move(operation));
}

static const char *broken_limit(const Call &c) {
  const Dim3 &b = c.block, &g = c.grid;
  uint64_t threads = uint64_t(b.x) * b.y * b.z;
  if (!threads || !g.x || !g.y || !g.z) return "a dimension is 0";
  if (b.x > 1024 || b.y > 1024 || b.z > 64 || threads > 1024) return "more than 1024 threads a block, or 64 in z";
  if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) return "the grid exceeds 2147483647 x 65535 x 65535 blocks";
  return nullptr;
}

void register_bounds(const void *function, int threads) { bounds()[function] = threads; }

void submit(const Call &call, const void *function, std::function<void()> body) {
  const Dim3 &b = call.block, &g = call.grid;
  if (const char *why = broken_limit(call)) {
    fail(cudaErrorInvalidConfiguration, call.name, "grid (%u,%u,%u), block (%u,%u,%u): %s", g.x, g.y, g.z, b.x, b.y, b.z, why);
    return;
  }
  auto bound = bounds().find(function);
  if (bound != bounds().end() && b.x * b.y * b.z > unsigned(bound->second)) {
    fail(cudaErrorInvalidValue, call.name, "%u threads a block, __launch_bounds__ says %d", b.x * b.y * b.z, bound->second);
    return;
  }
  auto raised = dynamic_limits().find(function);
  size_t limit = raised == dynamic_limits().end() ? 48 << 10 : size_t(raised->second);
  if (call.shared > limit) {
    fail(cudaErrorInvalidValue, call.name, "%zu bytes of dynamic shared memory: the limit is %zu", call.shared, limit);
    return;
  }
  if (refused(call.name)) return;
  Geometry geometry{call.name, call.line, g, b, call.shared};
  enqueue(static_cast<cudaStream_t>(call.stream), [geometry, body = std::move(body)] { run_grid(geometry, body); });
}

static const char *wrong_copy(void *target, const void *source, size_t size, cudaMemcpyKind kind) {
  bool to_device = device_range(target, size), from_device = device_range(source, size);
  if (kind == cudaMemcpyDefault) return nullptr;
  bool wants_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  bool wants_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (wants_to && !to_device) return "the target is not, or not wholly, device memory";
  if (wants_from && !from_device) return "the source is not, or not wholly, device memory";
  if (!wants_to && to_device) return "the target is device memory";
  if (!wants_from && from_device) return "the source is device memory";
  return nullptr;
}

static cudaError_t copy(void *target, const void *source, size_t size, cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
  if (refused("cudaMemcpy")) return cudaErrorUnknown;
  if (!size) return cudaSuccess;
  if (const char *why = wrong_copy(target, source, size, kind))
    return cudaError_t(fail(cudaErrorInvalidValue, nullptr, "copy of %zu bytes: %s", size, why));
  bool to_device = device_range(target, size), from_device = device_range(source, size);
  enqueue(stream, [=] {
    memcpy(target, source, size);
    if (to_device && !from_device) note_upload(target, size);
    if (from_device && !to_device) note_download(source);
  });
  if (wait) run_stream(stream);
  return cudaSuccess;
}

static cudaError_t set(void *target, int value, size_t size, cudaStream_t stream) {
  if (refused("cudaMemset")) return cudaErrorUnknown;
  if (!size) return cudaSuccess;
  if (!device_range(target, size))
    return cudaError_t(fail(cudaErrorInvalidValue, nullptr, "cudaMemset of %zu bytes: not, or not wholly, device memory", size));
  enqueue(stream, [=] { memset(target, value, size); });
  return cudaSuccess;
}

static cudaError_t no_capture(const char *what) {
  return capturing() ? cudaError_t(fail(cudaErrorStreamCaptureUnsupported, nullptr, "%s during stream capture", what)) : cudaSuccess;
}
}  // namespace cudaperf_emu

using namespace cudaperf_emu;
extern "C" {
cudaError_t cudaMemcpy(void *target, const void *source, size_t size, cudaMemcpyKind kind) {
  if (cudaError_t error = no_capture("cudaMemcpy")) return error;
  return copy(target, source, size, kind, nullptr, true);
}
cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy(target, source, size, kind, stream, false);
}
cudaError_t cudaMemset(void *target, int value, size_t size) { return set(target, value, size, nullptr); }
cudaError_t cudaMemsetAsync(void *target, int value, size_t size, cudaStream_t stream) { return set(target, value, size, stream); }
cudaError_t cudaperf_symbol_copy(void *target, const void *source, size_t size, cudaStream_t stream, int wait) {
  enqueue(stream, [=] { memcpy(target, source, size); });
  if (wait) run_stream(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  if (refused("cudaStreamCreate")) return cudaErrorUnknown;
  streams.emplace_back();
  *stream = &streams.back();
  (*stream)->non_blocking = flags & cudaStreamNonBlocking;
  return cudaSuccess;
}
cudaStream_t cudaperf_stream_per_thread() {
  static cudaStream_t stream = (streams.emplace_back(), &streams.back());
  return stream;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  for (auto it = streams.begin(); it != streams.end(); ++it) {
    if (&*it != stream) continue;
    destroyed.splice(destroyed.end(), streams, it);
    return cudaSuccess;
  }
  return cudaError_t(fail(cudaErrorInvalidResourceHandle, nullptr, "cudaStreamDestroy of no stream"));
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (of(stream).capture) return no_capture("cudaStreamSynchronize");
  if (refused("cudaStreamSynchronize")) return cudaErrorUnknown;
  run_stream(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { return of(stream).pending.empty() ? cudaSuccess : cudaErrorNotReady; }
cudaError_t cudaDeviceSynchronize() {
  if (cudaError_t error = no_capture("cudaDeviceSynchronize")) return error;
  run_everything();
  return cudaSuccess;
}
cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
  enqueue(stream, [=] { close_device_memory(), function(data), open_device_memory(); });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  *event = new CudaperfEvent;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  event->stream = stream;
  event->done = false;
  enqueue(stream, [=] { event->done = true, event->nanoseconds = clock_ticks(); });
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (!event->done) run_stream(event->stream);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return event->done ? cudaSuccess : cudaErrorNotReady; }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!start->done || !end->done) return cudaErrorNotReady;
  *milliseconds = float(end->nanoseconds - start->nanoseconds) * 1e-6f;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (!event->done) run_stream(event->stream);
  delete event;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  enqueue(stream, [=] { if (!event->done) run_pending(of(event->stream)); });
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (refused("cudaStreamBeginCapture")) return cudaErrorUnknown;
  if (!stream) return cudaError_t(fail(cudaErrorStreamCaptureUnsupported, nullptr, "the default stream can't be captured"));
  if (stream->capture) return cudaError_t(fail(cudaErrorStreamCaptureUnsupported, nullptr, "the stream is already capturing"));
  stream->capture = new CudaperfGraph;
  capture_count++;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  if (refused("cudaStreamIsCapturing")) return cudaErrorUnknown;
  *status = of(stream).capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  if (!stream || !stream->capture) return cudaError_t(fail(cudaErrorStreamCaptureInvalidated, nullptr, "the stream is not capturing"));
  *graph = stream->capture;
  stream->capture = nullptr;
  capture_count--;
  if (refused("cudaStreamEndCapture")) {
    delete *graph;
    *graph = nullptr;
    return cudaErrorUnknown;
  }
  return cudaSuccess;
}
cudaError_t cudaperf_graph_instantiate(cudaGraphExec_t *executable, cudaGraph_t graph) {
  if (refused("cudaGraphInstantiate")) return cudaErrorUnknown;
  *executable = new CudaperfGraph(*graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  if (refused("cudaGraphLaunch")) return cudaErrorUnknown;
  enqueue(stream, [operations = graph->operations] { for (auto &operation : operations) operation(); });
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaperf_func_set_attribute(const void *function, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || size_t(value) > settings.shared_optin)
    return cudaError_t(fail(cudaErrorInvalidValue, nullptr, "%d bytes of dynamic shared memory: the device's limit is %zu", value, settings.shared_optin));
  dynamic_limits()[function] = value;
  return cudaSuccess;
}
cudaError_t cudaPeekAtLastError() { return cudaError_t(last_error); }
cudaError_t cudaGetLastError() {
  cudaError_t error = cudaError_t(last_error);
  last_error = cudaSuccess;
  return error;
}
}
