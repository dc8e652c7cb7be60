// double a[64], b[64]; int c[64]; struct cell s[8]; n is 8
int original(double *a, double *b, int *c, struct cell *s, int n) {
  /* é */ for (int i = 0; /* ; ) */ i < n; i++) { // ж (
    a[i] /* α */ = b[i] + 1; // trailing
  }
 c[0] = ')' + ';';
  return 0;
}
