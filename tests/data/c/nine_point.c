/* Compact nine-point Laplacian: corners 1, edges 4, centre -20. */
#define CENTRE (-20.0)
#define EDGE   4.0
#define CORNER 1.0

// expect: verified
void laplacian9(int rows, int cols, const double *src, double *dst, double scale)
{
	for (int r = 1; r < rows - 1; r++) {
		const double *above = src + (r - 1) * cols;
		const double *here  = src + r * cols;
		const double *below = src + (r + 1) * cols;
		double *to = dst + r * cols;
		for (int c = 1; c < cols - 1; c++) {
			double corners = above[c - 1] + above[c + 1] + below[c - 1] + below[c + 1];
			double edges   = above[c] + below[c] + here[c - 1] + here[c + 1];
			to[c] = scale * (CENTRE * here[c] + EDGE * edges + CORNER * corners);
		}
	}
}
