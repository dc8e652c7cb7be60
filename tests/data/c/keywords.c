/* Names that are words of other languages. */
// expect: verified
void gather_lambda(int in, int lambda, const int *from, const double *is, double *pass)
{
    for (int i = 0; i < in; i++)
        for (int del = 0; del < lambda; del++)
            pass[i * lambda + del] = is[from[i] + del];
}
