#include <stdarg.h>

// expect: refused code=unsupported line=4
void fill_from(double *out, int n, ...)
{
    va_list ap;
    va_start(ap, n);
    for (int i = 0; i < n; i++)
        out[i] = va_arg(ap, double);
    va_end(ap);
}
