/* Chaotic: x' = r x (1 - x). */
// expect: refused code=dependence line=7
void trajectory(int n, double r, double x0, double *out)
{
    double x = x0;
    for (int i = 0; i < n; i++) {
        x = r * x * (1.0 - x);
        out[i] = x;
    }
}
