// The part of the CUDA runtime API that emitted files call. Every call here may be recorded, deferred or refused.
#pragma once
#include <cstddef>

#include "vectors.h"

#define CUDAPERF_ERRORS(X)                                                                                        \
  X(cudaSuccess, 0, "no error")                                                                                   \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                                 \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                                \
  X(cudaErrorInitializationError, 3, "initialization error")                                                      \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                           \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                                  \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                     \
  X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")              \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                                 \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                        \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                               \
  X(cudaErrorNotReady, 600, "device not ready")                                                                   \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                                     \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                                \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                       \
  X(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped")     \
  X(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")           \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                                    \
  X(cudaErrorNotSupported, 801, "operation not supported")                                                        \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")                   \
  X(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")            \
  X(cudaErrorUnknown, 999, "unknown error")

enum cudaError {
#define X(name, value, text) name = value,
  CUDAPERF_ERRORS(X)
#undef X
};
typedef cudaError cudaError_t;

enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX = 2, cudaDevAttrMaxBlockDimY = 3, cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5, cudaDevAttrMaxGridDimY = 6, cudaDevAttrMaxGridDimZ = 7, cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10, cudaDevAttrMaxRegistersPerBlock = 12, cudaDevAttrMultiProcessorCount = 16, cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMemoryPoolsSupported = 115,
};
struct CudaperfStream;
struct CudaperfEvent;
struct CudaperfGraph;
typedef CudaperfStream *cudaStream_t;
typedef CudaperfEvent *cudaEvent_t;
typedef CudaperfGraph *cudaGraph_t;
typedef CudaperfGraph *cudaGraphExec_t;
typedef struct CudaperfGraphNode *cudaGraphNode_t;
typedef void (*cudaHostFn_t)(void *);
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin;
  int major, minor, warpSize, maxThreadsPerBlock, multiProcessorCount;
};

constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;
constexpr unsigned cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterReadOnly = 8, cudaHostAllocDefault = 0;
constexpr cudaStream_t cudaStreamLegacy = nullptr;
#define cudaStreamPerThread (cudaperf_stream_per_thread())

extern "C" {
cudaError_t cudaMalloc(void **pointer, size_t size);
cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaMallocHost(void **pointer, size_t size);
cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned flags);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned flags);
cudaError_t cudaHostUnregister(void *pointer);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaMemcpy(void *target, const void *source, size_t size, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t size, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemset(void *target, int value, size_t size);
cudaError_t cudaMemsetAsync(void *target, int value, size_t size, cudaStream_t stream);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaStream_t cudaperf_stream_per_thread();
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);
cudaError_t cudaperf_graph_instantiate(cudaGraphExec_t *executable, cudaGraph_t graph);
cudaError_t cudaperf_func_set_attribute(const void *function, cudaFuncAttribute attribute, int value);
cudaError_t cudaperf_symbol_copy(void *target, const void *source, size_t size, cudaStream_t stream, int wait);
cudaError_t cudaperf_register_symbol(const void *symbol, size_t size);
}

template <class T> cudaError_t cudaMalloc(T **p, size_t size) { return cudaMalloc(reinterpret_cast<void **>(p), size); }
template <class T> cudaError_t cudaMallocAsync(T **p, size_t size, cudaStream_t s) { return cudaMallocAsync(reinterpret_cast<void **>(p), size, s); }
template <class T> cudaError_t cudaMallocHost(T **p, size_t size) { return cudaMallocHost(reinterpret_cast<void **>(p), size); }
template <class T> cudaError_t cudaHostAlloc(T **p, size_t size, unsigned f) { return cudaHostAlloc(reinterpret_cast<void **>(p), size, f); }
template <class F> cudaError_t cudaFuncSetAttribute(F *f, cudaFuncAttribute a, int v) {
  return cudaperf_func_set_attribute(reinterpret_cast<const void *>(f), a, v);
}
template <class F> cudaError_t cudaFuncSetCacheConfig(F *, cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t event) { return cudaEventRecord(event, nullptr); }
inline cudaError_t cudaMemcpyAsync(void *t, const void *s, size_t n, cudaMemcpyKind k) { return cudaMemcpyAsync(t, s, n, k, nullptr); }
inline cudaError_t cudaMemsetAsync(void *t, int v, size_t n) { return cudaMemsetAsync(t, v, n, nullptr); }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event) { return cudaStreamWaitEvent(stream, event, 0); }
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *e, cudaGraph_t g, unsigned long long) { return cudaperf_graph_instantiate(e, g); }
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *e, cudaGraph_t g, unsigned long long = 0) { return cudaperf_graph_instantiate(e, g); }
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *e, cudaGraph_t g, cudaGraphNode_t *, char *, size_t) {
  return cudaperf_graph_instantiate(e, g);
}
template <class T> cudaError_t cudaMemcpyToSymbol(T &symbol, const void *source, size_t size, size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice) {
  return cudaperf_symbol_copy(reinterpret_cast<char *>(&symbol) + offset, source, size, nullptr, 1);
}
template <class T> cudaError_t cudaMemcpyFromSymbol(void *target, const T &symbol, size_t size, size_t offset = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  return cudaperf_symbol_copy(target, reinterpret_cast<const char *>(&symbol) + offset, size, nullptr, 1);
}
template <class T> cudaError_t cudaMemcpyToSymbolAsync(T &symbol, const void *source, size_t size, size_t offset, cudaMemcpyKind, cudaStream_t stream) {
  return cudaperf_symbol_copy(reinterpret_cast<char *>(&symbol) + offset, source, size, stream, 0);
}
template <class T> cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol) {
  *pointer = const_cast<void *>(reinterpret_cast<const void *>(&symbol));
  return cudaperf_register_symbol(&symbol, sizeof symbol);
}
