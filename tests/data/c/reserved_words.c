/* Names that are words of C++: everything but what other files must call by its name gets another one. */
typedef unsigned char byte, explicit;
struct point { float new, operator; };
struct class { float x; };
typedef struct { float private; } hidden;
enum { using = 3, friend = 5 };
#define mutable(try) ((try) * 2.0f)

float virtual[100];

static float template(float this)
{
    return this * this;
}

// expect: verified
// cudaperf: assume and >= 1
void reserved_names(int and, const float *new, float *restrict delete)
{
    for (int or = 0; or < and; or++) { // the new value
        float class = mutable(new[or]) + using * friend;
        delete[or] = template(class);
    }
}

// expect: verified
void reserved_members(int n, struct point *typename)
{
    for (int i = 0; i < n; i++)
        typename[i].new = typename[i].operator * 2.0f;
}

// expect: verified
void reserved_number_type(int n, explicit *x, const explicit add)
{
    for (int i = 0; i < n; i++)
        x[i] += add;
}

// expect: refused code=unsupported line=41 mentions="class is a word of CUDA C++"
void reserved_tag(int n, struct class *p)
{
    for (int i = 0; i < n; i++)
        p[i].x *= 2.0f;
}

// expect: refused code=unsupported line=48 mentions="private is a word"
void reserved_in_header(int n, hidden *p)
{
    for (int i = 0; i < n; i++)
        p[i].private *= 2.0f;
}

// expect: refused code=unsupported line=58 mentions="virtual is a word"
void reserved_global(int n)
{
    for (int i = 0; i < n && i < 100; i++)
        virtual[i] *= 2.0f;
}

// expect: refused code=dependence line=65 mentions="new[i]"
void reserved_in_messages(int n, float *new, float class)
{
    for (int i = 1; i < n; i++)
        new[i] = class * new[i - 1] * new[i - 1];
}

// expect: refused code=unsupported line=69 mentions="throw is a word"
void throw(int n, float *x)
{
    for (int i = 0; i < n; i++)
        x[i] *= 2.0f;
}
