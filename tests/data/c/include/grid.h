/* Shared by the grid solvers: precision and the layout of a flattened volume (x fastest). */
#ifndef GRID_H
#define GRID_H

typedef double real;

#define AT(x, y, z) (((z) * ny + (y)) * nx + (x))

#endif
