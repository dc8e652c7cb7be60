// Stands in for the CUDA runtime's header when emitted files are compiled for the host: CUDA's semantics on the CPU, under
// sanitizers. Nothing here decides speed.
#ifndef CUDAPERF_CUDA_RUNTIME_H
#define CUDAPERF_CUDA_RUNTIME_H
#ifndef CUDAPERF_EMULATED
#define CUDAPERF_EMULATED 1
#endif
#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudaperf_emulation/intrinsics.h"

#include "cudaperf_emulation/api.h"
#include "cudaperf_emulation/atomics.h"
#include "cudaperf_emulation/device.h"
#include "cudaperf_emulation/ptx.h"
#endif
