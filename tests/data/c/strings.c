/* Upper case, ASCII only. Nobody tells us the length. */
// expect: refused code=unbounded line=6
// expect: refused code=unsupported line=6 mentions="depends on data"
void upcase(char *s)
{
    for (int i = 0; s[i] != '\0'; i++)
        if (s[i] >= 'a' && s[i] <= 'z')
            s[i] = (char)(s[i] - 'a' + 'A');
}
