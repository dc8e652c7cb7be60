// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  int i, j;
  for (i = 0, j = n; i < j; i++, j--) c[i] = j;
  for (i = n - 1; i >= 0; --i) c[i] += i;
  for (i = 0; n > i; i = i + 3) c[i]++;
  for (unsigned u = 0; u != 8u; u += 2) c[u] ^= 3;
  for (i = 1; i * i <= 40; i++) c[i] |= 8;
  for (i = 1; i < 32; i *= 2) c[i] = i;
  do { n--;
  if (n == 3) continue;
  if (n == 1) break;
  c[n]--;
  } while (n > 0);
  for (;;) { if (++n > 5) break;
  }
  return 0;
}
