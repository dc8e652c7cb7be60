// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  for (int i = 0; i < 8; i++) { double *r = a + i * 8;
  const double *t = &b[IDX(i, 0)];
  for (int j = 0; j < 8; j++) r[j] = t[7 - j] + *r;
  }
  return 0;
}
