// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  for (int i = 0; i < n; i++) { if (b[i] > 0.5 && c[i] || !c[i + 1]) a[i] = fmin(b[i], 0.7);
  else if (isnan(b[i])) a[i] = INFINITY;
  else { a[i] = 1;
  continue;
  } if (i == 6) return 3;
  }
  return 0;
}
