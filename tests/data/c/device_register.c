/* Feeds a memory-mapped port. */
// expect: refused code=side_effect line=3 mentions="volatile"
void send(volatile unsigned char *port, const unsigned char *data, int n)
{
    for (int i = 0; i < n; i++)
        *port = data[i];
}
