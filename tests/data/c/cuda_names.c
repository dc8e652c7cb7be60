/* Names that CUDA's headers declare: helpers, types and constants of the file get another one, what other files call by its name
   can't, and parameters, locals and members keep theirs. */
typedef unsigned int uint;
typedef struct { float x, y; } float2;
typedef struct { double x, y; } double2;
struct hit { float time, index; };
enum { all = 2, any };
static const double rsqrt = 0.5;
float timezone[100];

static inline int max(int a, int b) { return a > b ? a : b; }
static inline float saturate(float a) { return a > 1.0f ? 1.0f : a; }

// expect: verified
void named_helpers(int n, int *y1, float *hypot, int norm, float double4)
{
    for (int i = 0; i < n; i++) {
        y1[i] = max(y1[i], norm);
        hypot[i] = saturate(hypot[i]) * double4;
    }
}

// expect: verified
void named_types(int n, uint *x, struct hit *hits)
{
    for (int i = 0; i < n; i++) {
        double2 v = { rsqrt, all };
        x[i] += any;
        hits[i].time = hits[i].index * (float)(v.x + v.y);
    }
}

// expect: refused code=unsupported line=34 mentions="float2 is a name that CUDA's headers declare"
void named_in_header(int n, float2 *p)
{
    for (int i = 0; i < n; i++)
        p[i].x *= p[i].y;
}

// expect: refused code=unsupported line=44 mentions="rename it"
void named_global(int n)
{
    for (int i = 0; i < n && i < 100; i++)
        timezone[i] *= 2.0f;
}

// expect: refused code=unsupported line=48 mentions="norm is a name that CUDA's headers declare"
float norm(const float *v, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++)
        s += v[i] * v[i];
    return s;
}
