// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  double *p = a;
  const double *q = b + 3, *end = b + 40;
  while (q < end) *p++ = 2 * *q++;
  p -= 3;
  *p = 7;
  p[1] = *--q;
  c[0] = end - q;
  return 0;
}
