/* Length of the Collatz chain of every number from 1 to n. */
// expect: verified
void collatz_lengths(int n, int *length)
{
    for (int i = 0; i < n; i++) {
        unsigned long long v = (unsigned long long)i + 1;
        int steps = 0;
        while (v != 1) {
            v = (v & 1) ? 3 * v + 1 : v / 2;
            steps++;
        }
        length[i] = steps;
    }
}
