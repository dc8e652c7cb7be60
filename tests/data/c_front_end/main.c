static double a[64], b[64]; static int c[64]; static struct cell s[8];
static unsigned long hash(unsigned long h, const void *p, size_t size) {
  for (size_t i = 0; i < size; i++) h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211ul;
  return h;
}
static void run(int (*f)(double *, double *, int *, struct cell *, int)) {
  memset(s, 0, sizeof s); shared = 0;
  for (int i = 0; i < 64; i++) { a[i] = i * 0.37 - 3; b[i] = (i * 13 % 29) * 0.11; c[i] = i * 7 % 11; }
  for (int i = 0; i < 8; i++) { s[i].x = i; s[i].y = 2 * i + 0.5; s[i].p.k = i; s[i].p.w[0] = i * 0.25f; s[i].p.w[2] = 3; }
  unsigned long h = f(a, b, c, s, 8) + 14695981039346656037ul;
  h = hash(hash(hash(h, a, sizeof a), b, sizeof b), c, sizeof c);
  for (int i = 0; i < 8; i++) h = hash(hash(hash(hash(h, &s[i].x, 8), &s[i].y, 8), &s[i].p.k, 4), s[i].p.w, 12);
  printf("%lx\n", hash(h, &shared, 4));
}
int main(void) { for (int i = 0; i < (int)(sizeof variants / sizeof *variants); i++) run(variants[i]); return 0; }
