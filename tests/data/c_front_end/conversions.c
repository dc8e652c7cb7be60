// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  float f = 1.1f;
  unsigned u = 3;
  long l = -5;
  char k = 'a';
  unsigned char h = 250;
  for (int i = 0; i < n; i++) { a[i] = f * b[i] + i / 2 + u * 2;
  c[i] = l / u;
  c[i + 8] = k + h * 2;
  b[i] = sqrt(f) + fabsf(f) + pow(f, 2);
  h += 9;
  }
  c[30] = (int)(f * 10) + (short)70000 + (unsigned char)511;
  c[31] = u - 4 > 0;
  c[32] = -1 < (int)u;
  bool t = c[1];
  c[33] = t + true;
  return 0;
}
