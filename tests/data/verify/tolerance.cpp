// Each experiment: a computation over tracked floats, and candidates in plain float; prints, as JSON, the largest
// |candidate - v| / (m + sqrt(r)) of each candidate: what k must be at least (right ones) and at most (wrong ones).
#define CP_K 1.0
#include <cmath>
#include <memory>
#include "tracked.hpp"
#include <functional>
#include <string>

typedef std::vector<float> Floats;
static uint64_t state = 42;
static double uniform() {
    state += 0x9E3779B97F4A7C15ull;
    uint64_t z = state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return double((z ^ z >> 31) >> 11) * 0x1p-53;
}
static float normal() { return float((uniform() + uniform() + uniform() + uniform() - 2) * 1.7320508); }
static float tf32(float v) { uint32_t u; memcpy(&u, &v, 4); u = (u + 0x1000) & ~0x1fffu; memcpy(&v, &u, 4); return v; }
static float half(float v) { return float(_Float16(v)); }

static bool first = true;
static void report(const char *experiment, const char *candidate, bool right, const std::vector<cp_f32> &reference, const Floats &got) {
    double worst = 0;
    for (size_t i = 0; i < got.size(); i++) {
        double error = fabs(double(got[i]) - reference[i].v), bound = reference[i].e + sqrt(reference[i].r);
        double ratio = error == 0 ? 0 : error / bound;
        if (!(ratio < 1e300)) ratio = 1e300;
        if (ratio > worst) worst = ratio;
    }
    printf("%s{\"experiment\": \"%s\", \"candidate\": \"%s\", \"right\": %s, \"ratio\": %.4g}", first ? "[" : ",\n ", experiment,
           candidate, right ? "true" : "false", worst);
    first = false;
}
static Floats draw(int n, std::function<float()> f) { Floats x(n); for (auto &v : x) v = f(); return x; }
static std::vector<cp_f32> lift(const Floats &x) { std::vector<cp_f32> y; for (float v : x) y.push_back(cp_f32(v)); return y; }

static float tree(const Floats &x, size_t from, size_t to) {
    if (to - from == 1) return x[from];
    if (to == from) return 0;
    size_t mid = (from + to) / 2;
    return tree(x, from, mid) + tree(x, mid, to);
}
static float strided(const Floats &x, int lanes) {
    Floats p(lanes, 0);
    for (size_t i = 0; i < x.size(); i++) p[i % lanes] += x[i];
    return tree(p, 0, lanes);
}

static void sums(const char *name, const Floats &x) {
    cp_f32 s(0);
    for (auto &v : lift(x)) cp_accumulate(s, v);
    float sequential = 0, backward = 0, dropped = 0, coarse = 0;
    for (float v : x) sequential += v, coarse += tf32(v);
    for (size_t i = x.size(); i-- > 0;) backward += x[i];
    for (size_t i = 0; i + 1 < x.size(); i++) dropped += x[i];
    std::vector<cp_f32> r{s};
    report(name, "as written", true, r, {sequential});
    report(name, "backward", true, r, {backward});
    report(name, "tree", true, r, {tree(x, 0, x.size())});
    report(name, "256 lanes", true, r, {strided(x, 256)});
    if (x.size() < 2000) report(name, "without the last term", false, r, {dropped});
    if (x.size() < 2000 && s.v != 0) report(name, "tf32", false, r, {coarse});
}

static void dots(int n) {
    std::string name = "dot product of " + std::to_string(n);
    Floats x = draw(n, normal), y = draw(n, normal), products(n);
    auto a = lift(x), b = lift(y);
    cp_f32 s(0);
    for (int i = 0; i < n; i++) cp_accumulate(s, a[i] * b[i]);
    float written = 0, contracted = 0, coarse = 0, halves = 0, split = 0;
    for (int i = 0; i < n; i++) {
        written += x[i] * y[i];
        contracted = fmaf(x[i], y[i], contracted);
        coarse += tf32(x[i]) * tf32(y[i]);
        halves += half(x[i]) * half(y[i]);
        float xs = tf32(x[i] - tf32(x[i])), ys = tf32(y[i] - tf32(y[i]));
        split += tf32(x[i]) * tf32(y[i]) + (tf32(x[i]) * ys + xs * tf32(y[i]));
        products[i] = x[i] * y[i];
    }
    std::vector<cp_f32> r{s};
    report(name.c_str(), "as written", true, r, {written});
    report(name.c_str(), "contracted", true, r, {contracted});
    report(name.c_str(), "256 lanes", true, r, {strided(products, 256)});
    report(name.c_str(), "3xTF32", true, r, {split});
    report(name.c_str(), "tf32", false, r, {coarse});
    report(name.c_str(), "half", false, r, {halves});
}

template <class F> static void step(std::vector<F> &b, const std::vector<F> &a, F c) {
    for (size_t i = 1; i + 1 < a.size(); i++) b[i] = a[i] + c * (a[i - 1] - F(2) * a[i] + a[i + 1]);
}
static void stencil(const char *name, float c) {
    Floats x = draw(300, normal), y = x;
    auto a = lift(x), b = a;
    std::vector<float> p = x, q = x, f = x, g = x, s = x, t = x, h = x, w = x;
    for (int i = 0; i < 50; i++) {
        step(b, a, cp_f32(c)), std::swap(a, b);
        step(q, p, c), std::swap(p, q);
        for (size_t j = 1; j + 1 < f.size(); j++) g[j] = fmaf(c, fmaf(-2, f[j], f[j - 1] + f[j + 1]), f[j]);
        std::swap(f, g);
        for (size_t j = 1; j + 1 < h.size(); j++) w[j] = half(h[j] + c * (h[j - 1] - 2 * h[j] + h[j + 1]));
        std::swap(h, w);
        if (i < 49) step(t, s, c), std::swap(s, t);
    }
    report(name, "as written", true, a, p);
    report(name, "regrouped and contracted", true, a, f);
    report(name, "one step short", false, a, s);
    report(name, "stored in half", false, a, h);
}

static void chains() {
    Floats x = draw(2000, [] { return float(0.1 + 3 * uniform()); });
    auto a = lift(x);
    std::vector<cp_f32> r;
    Floats own, far, exchanged;
    for (size_t i = 0; i < x.size(); i++) {
        r.push_back(cp_f32(cp_exp(cp_e32(-a[i])) * cp_sin(cp_e32(a[i])) / cp_sqrt(cp_e32(cp_log(cp_e32(a[i] + 1.5f))))));
        float e = expf(-x[i]), s = sinf(x[i]), l = logf(x[i] + 1.5f);
        own.push_back(e * s / sqrtf(l));
        auto off = [](float v, int ulps) { for (int k = 0; k < ulps; k++) v = nextafterf(v, 1e30f); return v; };
        far.push_back(off(e, 2) * off(s, 2) / sqrtf(off(l, -1)));
        exchanged.push_back(half(e) * s / sqrtf(l));
    }
    report("exp, sin, log, sqrt", "as written", true, r, own);
    report("exp, sin, log, sqrt", "at the documented ulps", true, r, far);
    report("exp, sin, log, sqrt", "one factor in half", false, r, exchanged);
}
static void polynomial() {
    Floats x = draw(2000, [] { return float(2 * uniform() - 1); });
    const float c[8] = {0.3f, -1.7f, 0.9f, 2.2f, -0.4f, 0.8f, -1.1f, 0.6f};
    std::vector<cp_f32> r;
    Floats horner, estrin, short_;
    for (float v : x) {
        cp_f32 a(v), s(c[7]);
        float h = c[7], d = c[6];
        for (int i = 6; i >= 0; i--) cp_put(s, s * a + cp_f32(c[i])), h = fmaf(h, v, c[i]);
        for (int i = 5; i >= 0; i--) d = d * v + c[i];
        float v2 = v * v, v4 = v2 * v2;
        r.push_back(s);
        horner.push_back(h);
        estrin.push_back((c[0] + c[1] * v + v2 * (c[2] + c[3] * v)) + v4 * (c[4] + c[5] * v + v2 * (c[6] + c[7] * v)));
        short_.push_back(d);
    }
    report("polynomial of degree 7", "contracted", true, r, horner);
    report("polynomial of degree 7", "Estrin", true, r, estrin);
    report("polynomial of degree 7", "without the last coefficient", false, r, short_);
}
static void cancellation() {
    Floats x = draw(1000, normal), y = draw(1000, [] { return 1e4f * normal(); });
    std::vector<cp_f32> r;
    Floats own, exact, zero;
    for (size_t i = 0; i < x.size(); i++) {
        cp_f32 a(x[i]), b(y[i]);
        r.push_back(cp_f32((a + b) - b));
        own.push_back((x[i] + y[i]) - y[i]);
        exact.push_back(x[i]);
        zero.push_back(half(x[i] + 100));
    }
    report("a + b - b", "as written", true, r, own);
    report("a + b - b", "a", true, r, exact);
    report("a + b - b", "another value", false, r, zero);
}
static void newton() {
    Floats x = draw(1000, [] { return float(0.5 + 4 * uniform()); });
    std::vector<cp_f32> r;
    Floats own, contracted, one;
    for (float v : x) {
        cp_f32 a(v), y(1.0f);
        float p = 1, q = 1, s = 1;
        for (int i = 0; i < 12; i++) cp_put(y, cp_e32(0.5f) * (y + a / y)), p = 0.5f * (p + v / p), q = 0.5f * q + 0.5f * (v / q);
        for (int i = 0; i < 3; i++) s = 0.5f * (s + v / s);
        r.push_back(y), own.push_back(p), contracted.push_back(q), one.push_back(s);
    }
    report("square root by 12 Newton steps", "as written", true, r, own);
    report("square root by 12 Newton steps", "regrouped", true, r, contracted);
    report("square root by 12 Newton steps", "3 steps", false, r, one);
}

int main() {
    for (int n : {100, 1000, 100000}) {
        sums(("sum of " + std::to_string(n) + ", both signs").c_str(), draw(n, normal));
        sums(("sum of " + std::to_string(n) + ", positive").c_str(), draw(n, [] { return float(uniform()); }));
    }
    int at = 0;
    sums("sum of 1000, alternating", draw(1000, [&] { return at++ % 2 ? -1.1f : 1.1f; }));
    for (int n : {64, 1000, 20000}) dots(n);
    stencil("stencil, 50 steps, stable", 0.25f);
    stencil("stencil, 50 steps, unstable", 0.9f);
    chains(), polynomial(), cancellation(), newton();
    printf("]\n");
}
