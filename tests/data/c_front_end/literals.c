// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  a[0] = 0x10 + 010 + 'x' + 1e3f + 0x1p3 + 2.5e-3 + 7u + 9L + 3ull;
  c[0] = INT_MAX - 1;
  c[1] = INT_MIN;
  a[1] = DBL_MAX;
  a[2] = M_PI;
  c[2] = GREEN + BLUE;
  c[3] = sizeof(double) + sizeof a[0];
  c[4] = CHAR_BIT;
  return 0;
}
