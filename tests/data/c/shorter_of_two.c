/* Loops with two ends, of which the nearer counts. */

// expect: verified strategy=map
void fill_front(int n, int most, float *restrict y)
{
    for (int i = 0; i < most && i < n; i++)
        y[i] = 1;
}

// expect: verified strategy=map
void fill_tile(int n, int m, int k, int s, float *restrict y)
{
    for (int i = k; i < n && i < k + s && i < m; i++)
        y[i] = 1;
}

// expect: verified strategy=map
void sum_before(int n, int b, const float *restrict y, float *restrict z)
{
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = 0; j < i && j < b; j++)
            s += y[j];
        z[i] = s;
    }
}

/* The second end is not read where the first ends the loop. */
// expect: refused code=dependence line=32
void fill_to_mark(int n, const int *restrict mark, float *restrict y)
{
    for (int i = 0; i < n && i < mark[0]; i++)
        y[i] = 1;
}
