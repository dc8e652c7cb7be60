"""The small host functions that emitted files carry, each printed only where the file uses it.

Every CUDA call in an emitted file stands in `CP_CHECK`, which returns the error from the enclosing function; memory and graphs
are owned by objects of the enclosing scope, so that returning frees them.
"""

from __future__ import annotations

import re
from typing import Final

CHECK: Final = """\
/* Returns the error of a failed CUDA call from the enclosing function. */
#define CP_CHECK(call) \\
    do { \\
        const cudaError_t error_ = (call); \\
        if (error_ != cudaSuccess) \\
            return error_; \\
    } while (0)
"""

FUNCTIONS: Final[dict[str, str]] = {
    "CP_CHECK": CHECK,
    "cp_require": """\
/* Keeps the reason why the GPU can't be used where `holds` is false. */
static cudaError_t cp_require(bool holds, const char *reason, const char **why)
{
    if (!holds)
        *why = reason;
    return holds ? cudaSuccess : cudaErrorNotSupported;
}
""",
    "cp_min": """\
static long long cp_min(long long a, long long b)
{
    return a < b ? a : b;
}
""",
    "cp_max": """\
static long long cp_max(long long a, long long b)
{
    return a > b ? a : b;
}
""",
    "cp_ceildiv": """\
/* a / b rounded up; a size that nothing can satisfy where b is 0. */
static long long cp_ceildiv(long long a, long long b)
{
    if (b == 0)
        return LLONG_MAX;
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
}
""",
    "cp_floordiv": """\
/* a / b rounded down; a size that nothing can satisfy where b is 0. */
static long long cp_floordiv(long long a, long long b)
{
    if (b == 0)
        return LLONG_MAX;
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
""",
    "cp_floormod": """\
/* a - b * floor(a / b); a size that nothing can satisfy where b is 0. */
static long long cp_floormod(long long a, long long b)
{
    if (b == 0)
        return LLONG_MAX;
    const long long r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
""",
    "cp_tdiv": """\
/* a / b as in C; a size that nothing can satisfy where b is 0. */
static long long cp_tdiv(long long a, long long b)
{
    return b == 0 ? LLONG_MAX : a / b;
}
""",
    "cp_add": """\
/* a + b, at most what 64 bits hold: too large for any grid or allocation. */
static long long cp_add(long long a, long long b)
{
    if (b > 0 ? a > LLONG_MAX - b : a < LLONG_MIN - b)
        return b > 0 ? LLONG_MAX : LLONG_MIN;
    return a + b;
}
""",
    "cp_sub": """\
/* a - b, at most what 64 bits hold: too large for any grid or allocation. */
static long long cp_sub(long long a, long long b)
{
    if (b < 0 ? a > LLONG_MAX + b : a < LLONG_MIN + b)
        return b < 0 ? LLONG_MAX : LLONG_MIN;
    return a - b;
}
""",
    "cp_mul": """\
/* a * b, at most what 64 bits hold: too large for any grid or allocation. */
static long long cp_mul(long long a, long long b)
{
    if (a == 0 || b == 0)
        return 0;
    const bool negative = (a < 0) != (b < 0);
    const unsigned long long x = a < 0 ? 0ULL - (unsigned long long)a : (unsigned long long)a;
    const unsigned long long y = b < 0 ? 0ULL - (unsigned long long)b : (unsigned long long)b;
    if (x > LLONG_MAX / y)
        return negative ? LLONG_MIN : LLONG_MAX;
    return a * b;
}
""",
    "cp_area": """\
/* a * b elements: none where one is not positive, LLONG_MAX where 64 bits don't hold the product. */
static long long cp_area(long long a, long long b)
{
    if (a <= 0 || b <= 0)
        return 0;
    return a > LLONG_MAX / b ? LLONG_MAX : a * b;
}
""",
    "cp_bytes": """\
/* The size of `count` elements: 0 where it is negative, SIZE_MAX where no memory is that large. */
static size_t cp_bytes(long long count, size_t size)
{
    if (count <= 0)
        return 0;
    return (unsigned long long)count > SIZE_MAX / size ? SIZE_MAX : (size_t)count * size;
}
""",
    "cp_element": """\
/* array[index], or 0 where there is no such element. */
template <typename T>
static long long cp_element(const T *array, size_t bytes, long long index)
{
    return array != nullptr && index >= 0 && (size_t)index < bytes / sizeof(T) ? (long long)array[index] : 0;
}
""",
    "cp_top": """\
/* 1 + the largest of the first `count` elements, at least 0. */
template <typename T>
static long long cp_top(const T *array, size_t bytes, long long count)
{
    long long top = 0;
    for (long long i = 0; array != nullptr && i < count && (size_t)i < bytes / sizeof(T); i++)
        if ((long long)array[i] >= top)
            top = (long long)array[i] + 1;
    return top;
}
""",
    "cp_bottom": """\
/* The smallest of the first `count` elements, at most 0. */
template <typename T>
static long long cp_bottom(const T *array, size_t bytes, long long count)
{
    long long bottom = 0;
    for (long long i = 0; array != nullptr && i < count && (size_t)i < bytes / sizeof(T); i++)
        if ((long long)array[i] < bottom)
            bottom = (long long)array[i];
    return bottom;
}
""",
    "cp_fits": """\
/* Whether a kernel parameter of type T holds the value. */
template <typename T>
static bool cp_fits(long long value)
{
    return (long long)(T)value == value;
}
""",
    "cp_disjoint": """\
/* Whether two arrays share no byte. */
static bool cp_disjoint(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return a_bytes == 0 || b_bytes == 0 || (x < y ? y - x >= a_bytes : x - y >= b_bytes);
}
""",
    "cp_grid": """\
/* The grid of a launch: grid->x is 0 where it is empty; an error where CUDA allows no such grid. */
static cudaError_t cp_grid(dim3 *grid, long long x, long long y = 1, long long z = 1)
{
    const bool empty = x <= 0 || y <= 0 || z <= 0;
    if (!empty && (x > 2147483647 || y > 65535 || z > 65535))
        return cudaErrorInvalidConfiguration;
    *grid = empty ? dim3(0, 0, 0) : dim3((unsigned int)x, (unsigned int)y, (unsigned int)z);
    return cudaSuccess;
}
""",
    "cp_block": """\
/* The block of a launch; an error where CUDA allows no such block. */
static cudaError_t cp_block(dim3 *block, long long x, long long y = 1, long long z = 1)
{
    if (x < 1 || y < 1 || z < 1 || x > 1024 || y > 1024 || z > 64 || x * y * z > 1024)
        return cudaErrorInvalidConfiguration;
    *block = dim3((unsigned int)x, (unsigned int)y, (unsigned int)z);
    return cudaSuccess;
}
""",
    "cp_buffer": """\
/* Device memory of the enclosing scope: from the stream's pool where the device has pools. */
template <typename T>
struct cp_buffer {
    T *data = nullptr;
    size_t bytes = 0;
    cudaStream_t stream;
    bool pooled = true;

    explicit cp_buffer(cudaStream_t on) : stream(on) {}
    cp_buffer(const cp_buffer &) = delete;
    cp_buffer &operator=(const cp_buffer &) = delete;

    ~cp_buffer()
    {
        if (data != nullptr)
            (void)(pooled ? cudaFreeAsync(data, stream) : cudaFree(data));
    }

    cudaError_t allocate(size_t size)
    {
        if (size > PTRDIFF_MAX)
            return cudaErrorMemoryAllocation;
        bytes = size;
        const size_t least = size > 0 ? size : 1; /* so that `data` is an address for empty arrays too */
        const cudaError_t error = cudaMallocAsync((void **)&data, least, stream);
        if (error != cudaErrorNotSupported)
            return error;
        (void)cudaGetLastError();
        pooled = false;
        return cudaMalloc((void **)&data, least);
    }
@upload@@download@};
""",
    "cp_reason": """\
/* An error in words. Where no driver is installed, CUDA's own speak of its version. */
static const char *cp_reason(cudaError_t error)
{
    int version = 0;
    if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&version) == cudaSuccess && version == 0)
        return "no NVIDIA driver (CUDA driver version is insufficient for CUDA runtime version)";
    return cudaGetErrorString(error);
}
""",
    "cp_finish": """\
/* An input that is overwritten in part can't be computed again: rather no result than a wrong one. */
static void cp_finish(cudaError_t error, const char *array)
{
    if (error == cudaSuccess)
        return;
    const char *reason = cudaGetErrorString(error);
    fprintf(stderr, "cudaperf: @name@: copying %s back failed, its contents are lost: %s\\n", array, reason);
    abort();
}
""",
    "cp_graph": """\
/* Passes recorded as a CUDA graph. Destroying one that still runs is fine: CUDA keeps it until it is done. */
struct cp_graph {
    cudaStream_t recorder = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;

    ~cp_graph()
    {
        if (executable != nullptr)
            (void)cudaGraphExecDestroy(executable);
        if (graph != nullptr)
            (void)cudaGraphDestroy(graph);
        if (recorder != nullptr)
            (void)cudaStreamDestroy(recorder);
    }

    template <typename Pass>
    cudaError_t record(int passes, const Pass &pass)
    {
        CP_CHECK(cudaStreamCreateWithFlags(&recorder, cudaStreamNonBlocking));
        CP_CHECK(cudaStreamBeginCapture(recorder, cudaStreamCaptureModeRelaxed));
        cudaError_t error = cudaSuccess;
        for (int i = 0; i < passes && error == cudaSuccess; i++)
            error = pass(recorder);
        const cudaError_t ended = cudaStreamEndCapture(recorder, &graph);
        CP_CHECK(error);
        CP_CHECK(ended);
        return cudaGraphInstantiateWithFlags(&executable, graph, 0);
    }
};
""",
    "cp_repeat": """\
/* Runs pass(stream) `count` times. From 5 periods on, a graph of `period` passes (after which the pointers that they swap are
 * in place again) is recorded and replayed: one call to CUDA instead of one a launch. The first period runs directly, since
 * kernels are loaded at their first launch, which a recording may not do. */
template <typename Pass>
static cudaError_t cp_repeat(long long count, int period, cudaStream_t stream, const Pass &pass)
{
    cudaStreamCaptureStatus caller = cudaStreamCaptureStatusNone;
    CP_CHECK(cudaStreamIsCapturing(stream, &caller));
    cp_graph recording;
    if (count >= 5LL * period && caller == cudaStreamCaptureStatusNone) {
        for (int i = 0; i < period; i++, count--)
            CP_CHECK(pass(stream));
        CP_CHECK(recording.record(period, pass));
        for (; count >= period; count -= period)
            CP_CHECK(cudaGraphLaunch(recording.executable, stream));
    }
    for (; count > 0; count--)
        CP_CHECK(pass(stream));
    return cudaSuccess;
}
""",
}

_UPLOAD: Final = """
    cudaError_t upload(const T *host)
    {
        if (host == nullptr || bytes == 0)
            return cudaSuccess;
        return cudaMemcpyAsync(data, host, bytes, cudaMemcpyHostToDevice, stream);
    }
"""
_DOWNLOAD: Final = """
    cudaError_t download(T *host) const
    {
        if (host == nullptr || bytes == 0)
            return cudaSuccess;
        CP_CHECK(cudaMemcpyAsync(host, data, bytes, cudaMemcpyDeviceToHost, stream));
        return cudaStreamSynchronize(stream);
    }
"""

_HEADERS: Final = {
    "limits.h": r"\bLLONG_M|\b(?:U?CHAR|SCHAR|U?SHRT|U?INT|U?LONG|ULLONG)_M(?:IN|AX)\b|\bCHAR_BIT\b",
    "float.h": r"\b(?:FLT|DBL)_\w+",
    "math.h": r"\bM_\w+|\b(?:INFINITY|NAN|HUGE_VALF?)\b|\b(?:isnan|isinf|isfinite|signbit)\b"
    r"|\b(?:f?abs|a?(?:sin|cos|tan)h?|atan2|exp2?|expm1|log(?:2|10|1p|b)?|sqrt|cbrt|hypot|pow|ceil|floor|round|trunc|l?lrint|l?lround"
    r"|rint|nearbyint|fmod|remainder|fmin|fmax|fdim|fma|erfc?|[lt]gamma|copysign|ldexp|frexp|modf|scalbl?n|ilogb|nextafter)f?\s*\(",
    "stdint.h": r"\bu?int(?:_least|_fast)?(?:8|16|32|64)_t\b|\bu?int(?:ptr|max)_t\b|\bSIZE_MAX\b|\bPTRDIFF_MAX\b"
    r"|\bU?INT\d+_(?:MIN|MAX|C)\b",
    "stddef.h": r"\b(?:size_t|ptrdiff_t|offsetof)\b",
    "stdio.h": r"\bfprintf\b",
    "stdlib.h": r"\b(?:abort|l?labs|abs)\s*\(",
    "string.h": r"\bmem(?:cpy|set|move|cmp)\s*\(",
    "atomic": r"\bstd::atomic",
    "utility": r"\bstd::swap\b",
}


def support(code: str, name: str) -> str:
    """Definitions of the host functions that `code` uses, in the order above; `name` is the function that messages mention."""
    wanted: set[str] = set()
    text = code
    while True:
        missing = {key for key in FUNCTIONS if key not in wanted and re.search(rf"\b{key}\b", text)}
        if not missing:
            break
        wanted |= missing
        text = "\n".join(_text(key, code, name) for key in missing)
    return "\n".join(_text(key, code, name) for key in FUNCTIONS if key in wanted)


def _text(key: str, code: str, name: str) -> str:
    upload = _UPLOAD if ".upload(" in code else ""
    download = _DOWNLOAD if ".download(" in code else ""
    return FUNCTIONS[key].replace("@upload@", upload).replace("@download@", download).replace("@name@", name)


def standard_headers(code: str) -> list[str]:
    """The standard headers that the text needs, C's first."""
    bare = re.sub(r"//[^\n]*|/\*.*?\*/", " ", code, flags=re.DOTALL)
    found = [header for header, pattern in _HEADERS.items() if re.search(pattern, bare)]
    return sorted(found, key=lambda header: (not header.endswith(".h"), header))
