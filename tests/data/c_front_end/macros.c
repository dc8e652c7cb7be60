// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  for (int i = 0; i < n; i++) a[i] = SQ(b[i] + 1) * 2 * N + IDX(i, 1) - N * SQ(i);
  c[0] = 2 MINUS_ONE;
  c[1] = -N;
  return 0;
}
