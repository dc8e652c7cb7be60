// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  for (int i = 0; i < n; i++) { a[i] = mix(a[i], i);
  bump(&b[i], i + 1);
  bump(b + i, 2);
  shared += i;
  } c[0] = shared;
  shared = table[2];
  return 0;
}
