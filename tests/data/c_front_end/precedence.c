// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  for (int i = 0; i < n; i++) { c[i] = (i + 1) * (i - (2 - i)) - -i + ~i * !i;
  c[i + 8] = 100 / ((i + 1) * 2) % 7 << 2 & 255 | 1;
  }
  c[20] = 7 - (3 - (2 - 1));
  c[21] = (1 ? 2 : 3) + (c[1] > c[2] ? c[3] : c[4] ? 5 : 6);
  return 0;
}
