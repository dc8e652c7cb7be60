/* Records of varying length: where the next begins stands in the current one. */
// expect: refused code=unsupported line=9
// expect: refused code=dependence line=9
// expect: refused code=unbounded line=9
// expect: refused code=dependence line=10
int count_records(const int *stream, int n)
{
    int records = 0;
    for (int at = 0; at < n; at += 1 + (stream[at] & 7))
        records++;
    return records;
}
