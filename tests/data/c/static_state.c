/* A generator whose state lives in the function, between the calls too. */
// expect: refused code=dependence line=9
// expect: refused code=side_effect line=7
// expect: refused code=unsupported line=7
void noise(unsigned *out, int n)
{
    static unsigned state = 12345u;
    for (int i = 0; i < n; i++) {
        state = (state ^ (state << 13)) * 5u + (state >> 7);
        out[i] = state;
    }
}
