// Loop order i-k-j streams through rows of B and C, which is what the host's vector units like.

// expect: verified strategy=contraction
void matmul_ikj(int n, int p, int q, float a[n][p], float b[p][q], float c[n][q]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < q; ++j)
      c[i][j] = 0.f;

  for (int i = 0; i < n; ++i)
    for (int k = 0; k < p; ++k)
      for (int j = 0; j < q; ++j)
        c[i][j] += a[i][k] * b[k][j];
}
