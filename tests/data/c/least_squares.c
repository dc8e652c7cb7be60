/* Gradient of 1/2 |Xw - y|^2: residual first, then its projection on the features.
 * residual is an output as well: the caller plots it. */
// expect: verified
void gradient(int samples, int features, const double *X, const double *y, const double *w, double *residual, double *g)
{
    for (int s = 0; s < samples; s++) {
        double prediction = 0.0;
        for (int f = 0; f < features; f++) prediction += X[s * features + f] * w[f];
        residual[s] = prediction - y[s];
    }
    for (int f = 0; f < features; f++) {
        double sum = 0.0;
        for (int s = 0; s < samples; s++) sum += X[s * features + f] * residual[s];
        g[f] = sum;
    }
}
