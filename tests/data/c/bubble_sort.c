#define SWAP(T, a, b) do { T tmp_ = (a); (a) = (b); (b) = tmp_; } while (0)

/* Compare and exchange by neighbours: passes may overlap like a wave, two iterations apart. */
// expect: verified strategy=wavefront
// expect: refused code=dependence
void bubble_sort(float *v, int n)
{
    for (int pass = 0; pass < n - 1; pass++)
        for (int i = 0; i < n - 1 - pass; i++)
            if (v[i] > v[i + 1])
                SWAP(float, v[i], v[i + 1]);
}
