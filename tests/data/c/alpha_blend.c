struct rgba {
    unsigned char r, g, b, a;
};

static unsigned char mix(unsigned char under, unsigned char over, unsigned char alpha)
{
    return (unsigned char)((under * (255 - alpha) + over * alpha + 127) / 255);
}

// expect: verified
void blend(struct rgba *canvas, const struct rgba *sprite, int count)
{
    for (int i = 0; i < count; i++) {
        unsigned char a = sprite[i].a;
        canvas[i].r = mix(canvas[i].r, sprite[i].r, a);
        canvas[i].g = mix(canvas[i].g, sprite[i].g, a);
        canvas[i].b = mix(canvas[i].b, sprite[i].b, a);
    }
}
