#include <math.h>

#include "body.h"

typedef struct { double x, y, z; } force_t;

/* All pairs, softened gravity. */
// expect: verified
void forces(int n, const struct body *b, double soft, force_t *f)
{
    for (int i = 0; i < n; i++) {
        double fx = 0, fy = 0, fz = 0;
        for (int j = 0; j < n; j++) {
            double dx = b[j].x - b[i].x;
            double dy = b[j].y - b[i].y;
            double dz = b[j].z - b[i].z;
            double r2 = dx * dx + dy * dy + dz * dz + soft * soft + 1e-9;
            double w = b[j].mass / (r2 * sqrt(r2));
            fx += w * dx;
            fy += w * dy;
            fz += w * dz;
        }
        f[i].x = b[i].mass * fx;
        f[i].y = b[i].mass * fy;
        f[i].z = b[i].mass * fz;
    }
}

// expect: verified
void drift(int n, struct body *b, double dt)
{
    for (int i = 0; i < n; i++) {
        b[i].x += dt * b[i].vx;
        b[i].y += dt * b[i].vy;
        b[i].z += dt * b[i].vz;
    }
}
