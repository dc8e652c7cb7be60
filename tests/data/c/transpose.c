// expect: verified strategy=transpose
void transpose(int rows, int cols, const float *in, float *out)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            out[c * rows + r] = in[r * cols + c];
}
