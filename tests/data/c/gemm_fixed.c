#define ROWS 96
#define INNER 80
#define COLS (ROWS + 32)

typedef double real;

real left[ROWS][INNER];
real right[INNER][COLS];
real product[ROWS][COLS];

// expect: verified
void multiply_globals(void)
{
	int r, c, k;
	for (r = 0; r < ROWS; r++)
		for (c = 0; c < COLS; c++) {
			product[r][c] = 0;
			for (k = 0; k < INNER; k++)
				product[r][c] += left[r][k] * right[k][c];
		}
}
