/* Never ends for even start values. */
// expect: refused code=original_fails
void steps_to_one(const unsigned *start, unsigned *steps, int n)
{
    for (int i = 0; i < n; i++) {
        unsigned v = start[i] & 1022u;
        unsigned k = 0;
        while (v != 1u) {
            v = (v * 3u) & 1022u;
            k++;
        }
        steps[i] = k;
    }
}
