/* A chain of unit masses on springs, ends fixed; velocities and positions alternate (leapfrog). */
// cudaperf: assume n >= 2
// expect: verified
void leapfrog_chain(int n, int steps, double dt, double k, double *restrict x, double *restrict v)
{
    for (int s = 0; s < steps; s++) {
        for (int i = 1; i < n - 1; i++)
            v[i] += dt * k * (x[i - 1] - 2.0 * x[i] + x[i + 1]);
        for (int i = 1; i < n - 1; i++)
            x[i] += dt * v[i];
    }
}
