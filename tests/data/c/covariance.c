/* Sample covariance of d variables; data is n x d. Columns are centred in place. */
// cudaperf: assume n >= 2
// expect: verified
void covariance_matrix(int n, int d, double *data, double *mean, double *cov)
{
    for (int j = 0; j < d; j++) {
        mean[j] = 0.0;
        for (int i = 0; i < n; i++)
            mean[j] += data[i * d + j];
        mean[j] /= n;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < d; j++)
            data[i * d + j] -= mean[j];
    for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++) {
            double s = 0.0;
            for (int i = 0; i < n; i++)
                s += data[i * d + a] * data[i * d + b];
            cov[a * d + b] = s / (n - 1);
        }
}
