// Arguments of a case on the device, and the launch checked. Included by the drivers that driver.py writes.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

namespace confirm {

inline bool failed(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    return error != cudaSuccess;
}

// The same numbers on every run.
class Random {
public:
    explicit Random(uint64_t seed) : state(seed) {}
    uint64_t next()
    {
        uint64_t z = (state += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    uint64_t below(uint64_t n) { return next() % n; }
    float real() { return (next() >> 40) * (1.0f / 16777216.0f); }

private:
    uint64_t state;
};

template <class T>
void fill_numbers(std::vector<T> &v, const char *contents, long long value, Random &random)
{
    const size_t n = v.size();
    if (!std::strcmp(contents, "iota") || !std::strcmp(contents, "perm")) {
        for (size_t i = 0; i < n; i++)
            v[i] = static_cast<T>(i);
        for (size_t i = n; contents[0] == 'p' && i > 1; i--)
            std::swap(v[i - 1], v[random.below(i)]);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (!std::strcmp(contents, "fill"))
            v[i] = static_cast<T>(value);
        else if (!std::strcmp(contents, "below"))
            v[i] = static_cast<T>(random.below(value));
        else if (!std::strcmp(contents, "offsets"))
            v[i] = static_cast<T>(n > 1 ? value * (long long)i / (long long)(n - 1) : 0);
        else if (std::is_floating_point<T>::value)
            v[i] = static_cast<T>(random.real());
        else
            v[i] = static_cast<T>(random.below(256) & (sizeof(T) == 1 ? 127 : 255));
    }
}

// Structures are filled as rows of floats.
template <class T>
void fill(std::vector<T> &v, const char *contents, long long value, Random &random)
{
    if (!std::strcmp(contents, "zero"))
        return;
    if constexpr (std::is_arithmetic<T>::value) {
        fill_numbers(v, contents, value, random);
    } else {
        std::vector<float> words(v.size() * sizeof(T) / 4);
        fill_numbers(words, contents, value, random);
        std::memcpy(static_cast<void *>(v.data()), words.data(), words.size() * 4);
    }
}

template <class T>
class Array {
public:
    Array(long long count, const char *contents, long long value, uint64_t seed)
    {
        std::vector<T> host(count);
        Random random(seed);
        // vector<T> of zeros for `zero`: value initialization
        fill(host, contents, value, random);
        good = !failed(cudaMalloc(&data, count * sizeof(T)), "cudaMalloc")
            && !failed(cudaMemcpy(data, host.data(), count * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    ~Array() { cudaFree(data); }
    T *data = nullptr;
    bool good = false;
};

// Whether the launch just made ran to its end.
inline bool finished(const char *kernel)
{
    bool bad = failed(cudaGetLastError(), kernel) || failed(cudaDeviceSynchronize(), kernel);
    std::printf("%s %s\n", kernel, bad ? "failed" : "done");
    return !bad;
}

struct Entry {
    const char *kernel;
    bool (*run)();
};

// The kernels named on the command line, or all.
template <size_t N>
int run(const Entry (&entries)[N], int argc, char **argv)
{
    int failures = 0;
    for (const Entry &entry : entries) {
        bool wanted = argc == 1;
        for (int i = 1; i < argc; i++)
            wanted = wanted || !std::strcmp(argv[i], entry.kernel);
        if (wanted && !entry.run())
            failures++;
    }
    return failures ? 1 : 0;
}

} // namespace confirm
