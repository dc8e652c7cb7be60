/* Structure of arrays: bounce on the walls of a unit box. */
// expect: verified
void step_particles(int n, float dt, float *px, float *vx, float *py, float *vy)
{
    for (int i = 0; i < n; i++)
    {
        px[i] += dt * vx[i];
        py[i] += dt * vy[i];
        if (px[i] < 0.0f || px[i] > 1.0f)
            vx[i] = -vx[i];
        if (py[i] < 0.0f || py[i] > 1.0f)
            vy[i] = -vy[i];
    }
}
