/* Stops the whole loop at the first zero. What comes after must stay untouched. */
// expect: refused code=dependence line=8
// expect: refused code=unsupported line=8
void invert_until_zero(float *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (x[i] == 0.0f)
            break;
        x[i] = 1.0f / x[i];
    }
}
