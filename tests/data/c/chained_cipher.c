typedef unsigned char byte;

/* Each byte is masked with the one encrypted before it. */
// expect: refused code=dependence line=8 mentions="written by the previous iteration"
void chain_bytes(int n, const byte *plain, byte *secret)
{
    for (int i = 1; i < n; i++)
        secret[i] = (byte)(plain[i] ^ (secret[i - 1] * 5 + 1));
}
