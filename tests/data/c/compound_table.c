/* balance[r][y]: what one unit becomes after y+1 years at rates[r]. */
// expect: verified
void compound_table(int nrates, int years, const double *rates, double *balance)
{
    for (int r = 0; r < nrates; r++) {
        double b = 1.0;
        for (int y = 0; y < years; y++) {
            b *= 1.0 + rates[r] / 100.0;
            balance[r * years + y] = b;
        }
    }
}
