// Arrays of structures, structures of arrays, and packed colours.
#include <cuda_runtime.h>
#include <stdint.h>

struct Particle {
    float x, y, z;
    float vx, vy, vz;
    float mass, charge;
};

struct Vec3 {
    float x, y, z;
};

struct __align__(16) Body {
    float x, y, z, m;
};

typedef struct {
    int key;
    int value;
} Pair;

struct Cloud {
    float *x;
    float *y;
    float *z;
};

// run: block=128 grid=16 particles=Particle[n] dt=0.01 n=2000
// decides: CP105
__global__ void drift_aos(Particle *particles, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    particles[i].x += particles[i].vx * dt; // expect: CP101@particles sectors=32
    particles[i].y += particles[i].vy * dt; // expect: CP101@particles sectors=32
    particles[i].z += particles[i].vz * dt; // expect: CP101@particles sectors=32
}

// run: block=128 grid=16 x=float[n] y=float[n] z=float[n] vx=float[n] vy=float[n] vz=float[n] dt=0.01 n=2000
// decides: CP103 CP105
__global__ void drift_soa(float *x, float *y, float *z, const float *vx, const float *vy, const float *vz, float dt, int n) // expect: CP105@vx; CP105@vy; CP105@vz
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    x[i] += vx[i] * dt;
    y[i] += vy[i] * dt;
    z[i] += vz[i] * dt;
}

void drift(float *x, float *y, float *z, const float *vx, const float *vy, const float *vz, float dt, int n)
{
    drift_soa<<<(n + 127) / 128, 128>>>(x, y, z, vx, vy, vz, dt, n);
}

// run: block=256 grid=8 bodies=Body[n] mass=float[n] n=2000
// decides: CP105
__global__ void extract_mass(const Body *bodies, float *mass, int n) // expect: CP105@bodies
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        mass[i] = bodies[i].m; // expect: CP101@bodies sectors=16
}

// The whole structure moves at once.
// run: block=256 grid=8 from=Body[n] to=Body[n] n=2000
__global__ void copy_bodies(const Body *from, Body *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        reinterpret_cast<float4 *>(to)[i] = reinterpret_cast<const float4 *>(from)[i];
}

// run: block=256 grid=8 normals=Vec3[n] length=float[n] n=2000
__global__ void vector_length(const Vec3 *normals, float *length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float a = normals[i].x; // expect: CP101@normals sectors=12
        float b = normals[i].y; // expect: CP101@normals sectors=12
        float c = normals[i].z; // expect: CP101@normals sectors=12
        length[i] = sqrtf(a * a + b * b + c * c);
    }
}

// run: block=256 grid=8 pairs=Pair[n] keys=int[n] n=2000
__global__ void split_keys(const Pair *pairs, int *keys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        keys[i] = pairs[i].key; // also: CP101
}

// run: block=256 grid=40 rgba=uchar4[n] grey=uint8_t[n] n=10000
__global__ void to_grey(const uchar4 *rgba, uint8_t *grey, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uchar4 p = rgba[i];
        grey[i] = (uint8_t)((77 * p.x + 150 * p.y + 29 * p.z) >> 8);
    }
}

// run: block=64 grid=32 records=Particle[n] total=float[n] n=2000
__global__ void kinetic_energy(const Particle *records, float *total, int n)
{
    const int id = threadIdx.x + blockDim.x * blockIdx.x;
    if (id < n) {
        const Particle *p = &records[id];
        float v2 = p->vx * p->vx; // expect: CP101@p sectors=32
        total[id] = 0.5f * v2;
    }
}

// run: block=128 grid=8 spectrum=float2[n] power=float[n] n=1000
// decides: CP201 CP202 CP203
__global__ void power_spectrum(const float2 *spectrum, float *power, int n)
{
    int bin = blockIdx.x * blockDim.x + threadIdx.x;
    if (bin < n) {
        float2 c = spectrum[bin];
        power[bin] = c.x * c.x + c.y * c.y;
    }
}

void power(const float2 *spectrum, float *out, int n)
{
    power_spectrum<<<(n + 127) / 128, 128>>>(spectrum, out, n);
}

// Blocks of eight values a lane: the layout of the file, not of the device.
// run: block=128 grid=8 table=float[n*16] out=float[n] n=1000 field=5
__global__ void read_field(const float *table, float *out, int n, int field)
{
    int record = blockIdx.x * blockDim.x + threadIdx.x;
    if (record < n)
        out[record] = table[record * 16 + field]; // expect: CP101@table sectors=32
}

void read_one(const float *table, float *out, int n)
{
    read_field<<<(n + 127) / 128, 128>>>(table, out, n, 5);
}
