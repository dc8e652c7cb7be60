#define LIMIT 200

// Escape times on a w x h grid.
// cudaperf: assume w >= 1, h >= 1
// expect: verified
void mandelbrot(int w, int h, double x0, double y0, double scale, int *out) {
  for (int py = 0; py < h; py++) {
    for (int px = 0; px < w; px++) {
      double cr = x0 + px * scale, ci = y0 + py * scale;
      double zr = 0, zi = 0;
      int it = 0;
      while (zr * zr + zi * zi <= 4.0 && it < LIMIT) {
        double t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        it++;
      }
      out[py * w + px] = it;
    }
  }
}
