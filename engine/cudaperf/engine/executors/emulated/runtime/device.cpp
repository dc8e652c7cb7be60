// What the emulated device says about itself.
#include <cstdio>
#include <cstdlib>

#include "streams.h"

using namespace cudaperf_emu;
static bool absent() { return getenv("CUDAPERF_NO_DEVICE") != nullptr; }

extern "C" {
const char *cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define X(name, value, text) case name: return #name;
    CUDAPERF_ERRORS(X)
#undef X
  }
  return "unrecognized error code";
}
const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define X(name, value, text) case name: return text;
    CUDAPERF_ERRORS(X)
#undef X
  }
  return "unrecognized error code";
}
cudaError_t cudaGetDeviceCount(int *count) {
  *count = absent() ? 0 : 1;
  return absent() ? cudaErrorNoDevice : cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return absent() ? cudaErrorNoDevice : cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device == 0 && !absent() ? cudaSuccess : cudaErrorInvalidDevice; }
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
  if (device != 0 || absent()) return cudaErrorInvalidDevice;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: case cudaDevAttrMaxBlockDimX: case cudaDevAttrMaxBlockDimY: *value = 1024; break;
    case cudaDevAttrMaxBlockDimZ: *value = 64; break;
    case cudaDevAttrMaxGridDimX: *value = 0x7fffffff; break;
    case cudaDevAttrMaxGridDimY: case cudaDevAttrMaxGridDimZ: *value = 65535; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = 48 << 10; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = int(settings.shared_optin); break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = 65536; break;
    case cudaDevAttrMultiProcessorCount: *value = 2; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrComputeCapabilityMajor: *value = settings.architecture / 10; break;
    case cudaDevAttrComputeCapabilityMinor: *value = settings.architecture % 10; break;
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    default: return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device) {
  if (device != 0 || absent()) return cudaErrorInvalidDevice;
  *p = {"CPU emulation", settings.device_bytes, 48 << 10, settings.shared_optin, settings.architecture / 10, settings.architecture % 10, 32, 1024, 2};
  return cudaSuccess;
}
}
