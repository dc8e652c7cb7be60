#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#define N 10+2
#define SQ(x) ((x)*(x))
#define BARE(x) x*x+1
#define IDX(i,j) ((i)*8+(j))
#define AT(i) a[i]
#define MINUS_ONE -1
#define LIMIT (N)
#define NESTED(x) SQ(SQ(x)+1)
#define TWICE(s) s; s
#define real double
#define EACH(v, n) for (int v = 0; v < n; v++)
typedef struct { int k; float w[3]; } part;
struct cell { double x, y; part p; };
enum color { RED, GREEN = 5, BLUE };
static const double scale = 0.75;
static const int table[4] = {3, 1, 4, 1};
static inline double mix(double x, double y) { return x * scale + y * 0.25; }
static void bump(double *x, int by) { *x += by; x[1] -= by; }
static int shared;
