/* Records at file scope, whose types no parameter names. */
typedef struct {
    double x, v;
} Cell;
Cell cells[5000];

struct Body {
    float mass;
    float p[3];
};
struct Body bodies[4000];

// expect: verified strategy=map
void move_cells(int n, double dt)
{
    for (int i = 0; i < n; i++)
        cells[i].x += dt * cells[i].v;
}

// expect: verified strategy=map
void scale_bodies(float k)
{
    for (int i = 0; i < 4000; i++)
        for (int j = 0; j < 3; j++)
            bodies[i].p[j] *= k * bodies[i].mass;
}
