/* 3x3 matrix times many small vectors. */
typedef struct { float m[3][3]; } mat3;
typedef struct { float x, y, z; } vec3;

// expect: verified
void rotate_all(mat3 r, const vec3 *in, vec3 *out, int count)
{
    for (int i = 0; i < count; i++) {
        vec3 p = in[i];
        out[i].x = r.m[0][0] * p.x + r.m[0][1] * p.y + r.m[0][2] * p.z;
        out[i].y = r.m[1][0] * p.x + r.m[1][1] * p.y + r.m[1][2] * p.z;
        out[i].z = r.m[2][0] * p.x + r.m[2][1] * p.y + r.m[2][2] * p.z;
    }
}
