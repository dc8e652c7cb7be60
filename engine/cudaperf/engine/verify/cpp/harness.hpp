// The fixed part of every harness: reading and writing the files that verify/data.py describes.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

namespace cudaperf_harness {
[[noreturn]] static void bad(const char *what) { fprintf(stderr, "harness: %s\n", what); exit(2); }
static void take(FILE *file, void *to, size_t bytes) {
    if (bytes && fread(to, 1, bytes, file) != bytes) bad("input file too short");
}
static void put(FILE *file, const void *from, size_t bytes) {
    if (bytes && fwrite(from, 1, bytes, file) != bytes) bad("can't write");
}
static int64_t take_int(FILE *file) { int64_t value; take(file, &value, 8); return value; }
static double take_double(FILE *file) { double value; take(file, &value, 8); return value; }
static void put_int(FILE *file, int64_t value) { put(file, &value, 8); }
static void put_double(FILE *file, double value) { put(file, &value, 8); }
struct Array {
    int64_t count = 0; size_t bytes = 0; unsigned char *data = nullptr, *initial = nullptr; bool owned = true;
    void read(FILE *file, size_t element) {
        count = take_int(file);
        if (count < 0) bad("negative element count");
        bytes = size_t(count) * element;
        data = (unsigned char *)malloc(bytes ? bytes : 1); initial = (unsigned char *)malloc(bytes ? bytes : 1);
        if (!data || !initial) bad("out of memory");
        take(file, data, bytes); memcpy(initial, data, bytes);
    }
    void move_to(void *place) { free(data); data = (unsigned char *)place; owned = false; restore(); }
    void restore() { if (bytes) memcpy(data, initial, bytes); }
    bool unchanged() const { return bytes == 0 || memcmp(data, initial, bytes) == 0; }
    void write(FILE *file) const { put_int(file, count); put(file, data, bytes); }
    void release() { if (owned) free(data); free(initial); }
};
static double now() { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return double(t.tv_sec) + 1e-9 * double(t.tv_nsec); }
}
using namespace cudaperf_harness;
static int fell_back = 0;
