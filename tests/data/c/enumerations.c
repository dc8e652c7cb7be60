/* C converts numbers to enumerations and back without a word; C++ does not. */
// arguments: -Iinclude
#include "machine.h"

#define WAY enum way

enum mode { DOWN = -1, STAY, UP };
static const enum mode modes[4] = {0, 1, UP, -1};

static enum mode mode_of(int x) { return x > 0 ? 1 : x < 0 ? DOWN : STAY; }

static int weight(enum mode m, const enum mode *other) { return m == UP ? 3 : *other; }

// expect: verified strategy=map
void chosen(const int *restrict a, int *restrict b, int n)
{
    for (int i = 0; i < n; i++) {
        enum mode m = a[i] > 0 ? UP : 0, before = modes[a[i] & 3];
        m = a[i] > 100 ? before : (a[i] & 1) - 1;
        m++;
        b[i] = m == UP ? a[i] : -before; /* both */
    }
}

// expect: verified strategy=map
void with_helpers(enum mode *restrict a, int *restrict b, int n)
{
    for (int i = 0; i < n; i++) {
        enum mode m = mode_of(b[i]);
        b[i] = weight(b[i] & 1, &m) + weight(0, &m);
        a[i] = m > 0;
    }
}

// expect: verified strategy=map
void stepped(struct agent *restrict agents, int n)
{
    for (int i = 0; i < n; i++) {
        agents[i].way = agents[i].energy > 0 ? LEFT : 0;
        agents[i].status = woken(agents[i].status, agents[i].energy);
    }
}

/* The enumeration is an unsigned int to C: 0 - 1 is above 0. */
// expect: verified strategy=map
void computed(const int *restrict a, int *restrict b, int n)
{
    for (int i = 0; i < n; i++) {
        status s = (status)(a[i] & 7);
        b[i] = (s - 1 > 0) + ((status)(a[i] & 1) - 1 > 0);
    }
}

// expect: verified strategy=map
void each_mode(const int *restrict a, int *restrict b, int n)
{
    for (int i = 0; i < n; i++) {
        b[i] = 0;
        for (enum mode m = DOWN; m <= UP; m++)
            b[i] += (a[i] & 255) * m + m;
    }
}

// expect: verified strategy=map
void rows_of_modes(const enum mode *restrict a, enum mode *restrict b, int n, int m)
{
    for (int i = 0; i < n; i++) {
        const enum mode *row = a + i * m;
        for (int j = 0; j < m; j++)
            b[i * m + j] = row[m - 1 - j] & 1;
    }
}

// expect: verified strategy=map
void named_by_macro(const int *restrict a, int *restrict b, int n)
{
    for (int i = 0; i < n; i++) {
        WAY way = a[i] & 1;
        b[i] = way;
    }
}

// expect: verified strategy=map
void of_its_own(const int *restrict a, int *restrict b, int n)
{
    enum kind { LOW, HIGH = 4, FACTOR = 8 };
    for (int i = 0; i < n; i++) {
        enum kind k = a[i] > 3 ? HIGH : a[i] & 1;
        b[i] = k * FACTOR;
    }
}

// expect: verified strategy=reduction
status worst(const int *restrict a, int n)
{
    status s = IDLE;
    for (int i = 0; i < n; i++)
        s |= a[i] & 1;
    return s ? 5 : 0;
}
