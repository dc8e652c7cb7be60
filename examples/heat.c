/* One explicit step of the heat equation on a plate of rows x columns points; the border stays as it is. */

void step(int rows, int columns, double rate, const double *now, double *next)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            double here = now[i * columns + j];
            if (i > 0 && i < rows - 1 && j > 0 && j < columns - 1) {
                double around = now[(i - 1) * columns + j] + now[(i + 1) * columns + j]
                              + now[i * columns + j - 1] + now[i * columns + j + 1];
                here += rate * (around - 4.0 * here);
            }
            next[i * columns + j] = here;
        }
    }
}
