// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  for (int i = 0; i < n; i++) { switch (i % 5) { case 0: case 2: c[i] = 1;
  break;
  case 1: { c[i] = 2;
  break;
  } case 3: continue;
  default: c[i] = 9;
  } c[i] += 10;
  }
  return 0;
}
