struct node {
    double value;
    struct node *next;
};

// expect: refused code=unbounded line=12
// expect: refused code=unsupported line=12
// expect: refused code=unsupported line=9 mentions="next"
double list_sum(const struct node *p)
{
    double s = 0.0;
    for (; p; p = p->next)
        s += p->value;
    return s;
}
