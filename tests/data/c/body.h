#ifndef BODY_H
#define BODY_H

struct body {
    double x, y, z;
    double vx, vy, vz;
    double mass;
};

#endif /* BODY_H */
