/* Position of the first negative element of each row, or -1. */
// expect: verified
void first_negative(int rows, int cols, const float *a, int *where)
{
    for (int r = 0; r < rows; r++) {
        where[r] = -1;
        for (int c = 0; c < cols; c++) {
            if (a[r * cols + c] < 0.0f) {
                where[r] = c;
                break;
            }
        }
    }
}
