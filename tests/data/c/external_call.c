/* Defined in a library that we do not see. */
extern double calibrate(double raw);

// expect: refused code=side_effect line=9 mentions="calibrate"
// expect: refused code=unsupported line=9 mentions="calibrate"
void calibrate_all(const double *raw, double *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = calibrate(raw[i]);
}
