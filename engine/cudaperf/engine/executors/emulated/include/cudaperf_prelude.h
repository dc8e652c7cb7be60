// What every translated file includes first; precompiled under this name.
#include "cuda_runtime.h"
