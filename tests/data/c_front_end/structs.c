// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  for (int i = 0; i < n; i++) { struct cell t = s[i];
  s[i].x = t.y + s[i].p.w[i % 3];
  s[i].p.k += i;
  (&s[i])->p.w[1] *= 2;
  }
  struct cell *q = &s[2];
  q->x = 3;
  q[1].y = q->p.w[0];
  return 0;
}
