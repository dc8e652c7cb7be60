/* Lennard-Jones forces in reduced units on separate coordinate arrays, no cell lists. */
// expect: verified
void lj_forces(int n, const double *x, const double *y, const double *z, double *fx, double *fy, double *fz, double *energy)
{
    for (int i = 0; i < n; i++) {
        double ax = 0.0, ay = 0.0, az = 0.0, e = 0.0;
        for (int j = 0; j < n; j++) {
            if (j == i)
                continue;
            const double dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
            const double r2 = dx * dx + dy * dy + dz * dz + 0.5; /* keeps the core finite */
            const double i2 = 1.0 / r2, i6 = i2 * i2 * i2;
            const double w = 24.0 * i2 * i6 * (2.0 * i6 - 1.0);
            ax += w * dx;
            ay += w * dy;
            az += w * dz;
            e += 2.0 * i6 * (i6 - 1.0);
        }
        fx[i] = ax;
        fy[i] = ay;
        fz[i] = az;
        energy[i] = e;
    }
}
