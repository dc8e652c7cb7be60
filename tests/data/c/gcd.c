static unsigned gcd(unsigned a, unsigned b)
{
    while (b) {
        unsigned t = a % b;
        a = b;
        b = t;
    }
    return a;
}

// expect: verified
void gcd_all(const unsigned *a, const unsigned *b, unsigned *g, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        g[i] = gcd(a[i], b[i]);
}
