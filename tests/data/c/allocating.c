#include <stdlib.h>

/* A scratch row from the heap for every row. */
// expect: refused code=side_effect line=9 mentions="malloc"
// expect: refused code=unsupported line=9 mentions="malloc"
void reverse_rows(int rows, int cols, double *a)
{
    for (int r = 0; r < rows; r++) {
        double *t = malloc(cols * sizeof *t);
        for (int c = 0; c < cols; c++)
            t[c] = a[r * cols + cols - 1 - c];
        for (int c = 0; c < cols; c++)
            a[r * cols + c] = t[c];
        free(t);
    }
}
