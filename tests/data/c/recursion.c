/* expected naive; nobody waits for n > 30 */
static unsigned long fib(unsigned n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

// expect: refused code=unsupported mentions="fib"
void fibs(const unsigned *n, unsigned long *out, int count)
{
    for (int i = 0; i < count; i++)
        out[i] = fib(n[i] % 20);
}
