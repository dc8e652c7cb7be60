// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  EACH(q, n) { AT(q) = NESTED(b[q]) + BARE(q + 1);
  }
  TWICE(c[1] += LIMIT);
  real z = AT(1);
  b[0] = z;
  c[2] = 2*LIMIT;
  return 0;
}
