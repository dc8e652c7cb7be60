// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  int k = 0;
  a[k++] = 1;
  a[++k] = k;
  c[k] = n--;
  int m = k = 3;
  while (n-- > 2) c[n] = n;
  for (int i = 9; i --> 0;) c[10 + i] = k;
  if ((k = c[3]) > 1) c[5] = m, c[6] = k;
  else c[7] = m;
  c[8] = (k++, c[k]) + 1;
  if (++k > 2 && c[k]) c[9] = k;
  return 0;
}
