// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  double t[3][2] = {{1, 2}, {3}};
  float w[4] = {1, 2.5};
  double v[n][2];
  for (int i = 0; i < n; i++) { v[i][0] = i;
  v[i][1] = t[i % 3][1];
  a[i] = v[i][0] + w[i % 4];
  }
  memset(b, 0, 8 * sizeof(double));
  memcpy(a + 8, b + 8, n * sizeof *a);
  c[0] = (int)t[1][0];
  return 0;
}
