void threshold(const unsigned char *in, unsigned char *out, unsigned n, unsigned char level);

// expect: verified strategy=map
void threshold(const unsigned char *in, unsigned char *out, unsigned n, unsigned char level)
{
	unsigned i;
	for (i = 0; i < n; i++)
		out[i] = in[i] >= level ? 255 : 0;
}
