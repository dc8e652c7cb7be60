// The emulated runtime as one translation unit.
#include "settings.cpp"
#include "fibers.cpp"
#include "shared.cpp"
#include "scheduler.cpp"
#include "barriers.cpp"
#include "memory.cpp"
#include "streams.cpp"
#include "device.cpp"
