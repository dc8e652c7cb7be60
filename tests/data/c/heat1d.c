/* Explicit heat equation on a rod; ends are held. After an even number of steps the result is in u, else in v. */
// cudaperf: assume n >= 2
// expect: verified
void heat_rod(int n, int steps, double k, double *u, double *v)
{
    for (int t = 0; t < steps; t++) {
        v[0] = u[0];
        v[n - 1] = u[n - 1];
        for (int i = 1; i < n - 1; i++)
            v[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
        double *tmp = u;
        u = v;
        v = tmp;
    }
}
