// Numbers that carry what the original computes, what it should have computed, and how far rounding may take a candidate.
//
// cp_f32 and cp_f64 replace float and double. Each holds
//   o  the original's own value: same operations, same precision, no contraction; it decides every branch and every cast to
//      int, so this program follows the original's control flow and its integers are the original's;
//   v  the same expression one precision up (double for float; __float128, else long double, for double);
//   m  absolute: the unit roundoff times the magnitude of what was summed, propagated to first order: what changing the
//      order of a sum may cost;
//   r  the sum of the squares of every operation's own rounding error, propagated in quadrature: what keeping the order costs.
// A candidate may differ from v by CP_K * (m + sqrt(r)). Values that were only copied have m = r = 0: they must be equal.
// cp_ambiguous counts decisions that lie within rounding of going the other way. docs/decisions/001-tolerance.md says why.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(__SIZEOF_FLOAT128__) && !defined(CP_NO_QUAD) && __has_include(<quadmath.h>)
#include <quadmath.h>
typedef __float128 cp_wide;
#define CP_WIDE(name) name##q
#else
typedef long double cp_wide;
#define CP_WIDE(name) name##l
#endif

static long cp_ambiguous = 0;
static double cp_width = 0;  // the widest uncertainty among ambiguous comparisons since a cp_select began

template <class O> struct cp_unit;
template <> struct cp_unit<float> { static constexpr double u = 0x1p-24, tiny = 0x1p-150; };
template <> struct cp_unit<double> { static constexpr double u = 0x1p-53, tiny = 0x1p-1074; };

template <class O, class V> struct Tracked;
template <class T> struct cp_is_tracked : std::false_type {};
template <class O, class V> struct cp_is_tracked<Tracked<O, V>> : std::true_type {};

static inline double cp_scaled(double derivative, double error) { return error == 0 ? 0 : fabs(derivative) * error; }
static inline double cp_squared(double derivative, double error) { return error == 0 ? 0 : derivative * derivative * error; }

template <class O_, class V_> struct Tracked {
    typedef O_ O;
    typedef V_ V;
    static constexpr double u = cp_unit<O>::u;
    O o = 0;
    V v = 0;
    double m = 0, r = 0;

    Tracked() = default;
    Tracked(O own, V value, double sum, double squares) : o(own), v(value), m(sum), r(squares) {}
    template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0> Tracked(T x) : o(O(x)), v(V(x)) {
        if (std::is_integral<T>::value && double(V(o) - v) != 0) rounded();
        if (std::is_floating_point<T>::value && sizeof(T) > sizeof(O)) { if (V(o) != v) rounded(); }
    }
    template <class P, class Q> Tracked(const Tracked<P, Q> &x) : o(O(x.o)), v(V(x.v)), m(x.m), r(x.r) {
        if (sizeof(P) > sizeof(O) && (P(o) != x.o || !x.exact())) rounded();
    }
    bool exact() const { return m == 0 && r == 0; }
    double value() const { return double(v); }
    double error() const { return m + sqrt(r); }
    double seed() const { double least = u * fabs(value()); return m > least ? m : least; }
    Tracked &rounded(double units = 1) {
        double e = units * u * fabs(value());
        if (e < cp_unit<O>::tiny) e = value() == 0 && m == 0 ? 0 : cp_unit<O>::tiny;
        r += e * e;
        return *this;
    }
    bool zero() const { return v == 0 && exact() && o == 0; }
    bool power_of_two() const { int e; return exact() && fabs(frexp(value(), &e)) == 0.5; }
    explicit operator bool() const;
    Tracked operator-() const { return Tracked(-o, -v, m, r); }
    Tracked operator+() const { return *this; }
};
typedef Tracked<float, double> cp_f32;
typedef Tracked<double, cp_wide> cp_f64;

template <class T> struct cp_rank { static constexpr int value = 0; };
template <> struct cp_rank<cp_f32> { static constexpr int value = 1; };
template <> struct cp_rank<float> { static constexpr int value = 1; };
template <> struct cp_rank<cp_f64> { static constexpr int value = 2; };
template <> struct cp_rank<double> { static constexpr int value = 2; };
template <class A, class B> struct cp_common {
    static constexpr int rank = cp_rank<A>::value > cp_rank<B>::value ? cp_rank<A>::value : cp_rank<B>::value;
    typedef std::conditional_t<rank == 2, cp_f64, cp_f32> type;
};
template <class A, class B> using cp_if_tracked = std::enable_if_t<
    (cp_is_tracked<A>::value || cp_is_tracked<B>::value) && cp_is_tracked<typename cp_common<A, B>::type>::value, int>;

// --- decisions -----------------------------------------------------------------------------------------------------------

template <class T> static void cp_decide(const T &a, const T &b) {
    double width = a.error() + b.error();
    if (width > 0 && !(fabs(double(a.v - b.v)) > width)) {
        cp_ambiguous++;
        if (width > cp_width) cp_width = width;
    }
}
template <class O, class V> Tracked<O, V>::operator bool() const { cp_decide(*this, Tracked()); return o != 0; }

#define CP_COMPARISON(op)                                                                                                  \
    template <class A, class B, cp_if_tracked<A, B> = 0> bool operator op(const A &a, const B &b) {                        \
        typedef typename cp_common<A, B>::type T;                                                                          \
        T x(a), y(b);                                                                                                      \
        cp_decide(x, y);                                                                                                   \
        return x.o op y.o;                                                                                                 \
    }
CP_COMPARISON(<) CP_COMPARISON(>) CP_COMPARISON(<=) CP_COMPARISON(>=) CP_COMPARISON(==) CP_COMPARISON(!=)

// Two sides of a decision that hangs on rounding. Where they meet (a clamp, a maximum) either is right, and the bound says so.
template <class T> static T cp_meet(bool taken, const T &x, const T &y, double width, long counted) {
    double gap = fabs(double(x.v - y.v));
    T z = taken ? x : y;
    if (gap <= 1024 * width) {
        cp_ambiguous -= counted;
        z.m = (x.m > y.m ? x.m : y.m) + gap;
        z.r = x.r > y.r ? x.r : y.r;
    }
    return z;
}

template <class C, class A, class B> static auto cp_select(C condition, A then, B other) {
    typedef std::decay_t<decltype(then())> X;
    typedef std::decay_t<decltype(other())> Y;
    long before = cp_ambiguous;
    double outer = cp_width;
    cp_width = 0;
    bool taken = bool(condition());
    long counted = cp_ambiguous - before;
    double width = cp_width;
    cp_width = outer > width ? outer : width;
    if constexpr (cp_is_tracked<X>::value || cp_is_tracked<Y>::value) {
        typedef typename cp_common<X, Y>::type T;
        if (counted == 0) return taken ? T(then()) : T(other());
        return cp_meet(taken, T(then()), T(other()), width, counted);
    } else {
        return taken ? then() : other();
    }
}

// --- arithmetic ----------------------------------------------------------------------------------------------------------

template <class T> static T cp_add(const T &a, const T &b) {
    if (a.zero()) return T(a.o + b.o, b.v, b.m, b.r);
    if (b.zero()) return T(a.o + b.o, a.v, a.m, a.r);
    return T(a.o + b.o, a.v + b.v, a.seed() + b.seed(), a.r + b.r).rounded();
}
template <class T> static T cp_multiply(const T &a, const T &b) {
    double x = a.value(), y = b.value();
    T z(a.o * b.o, a.v * b.v, cp_scaled(y, a.m) + cp_scaled(x, b.m), cp_squared(y, a.r) + cp_squared(x, b.r));
    return a.power_of_two() || b.power_of_two() ? z : z.rounded();
}
template <class T> static T cp_divide(const T &a, const T &b) {
    T z(a.o / b.o, a.v / b.v, 0, 0);
    double y = 1 / b.value(), q = z.value() * y;
    z.m = cp_scaled(y, a.m) + cp_scaled(q, b.m);
    z.r = cp_squared(y, a.r) + cp_squared(q, b.r);
    return b.power_of_two() ? z : z.rounded();
}
#define CP_ARITHMETIC(op, body)                                                                                            \
    template <class A, class B, cp_if_tracked<A, B> = 0>                                                                   \
    typename cp_common<A, B>::type operator op(const A &a, const B &b) {                                                   \
        typedef typename cp_common<A, B>::type T;                                                                          \
        const T x(a), y(b);                                                                                                \
        return body;                                                                                                       \
    }
CP_ARITHMETIC(+, cp_add(x, y)) CP_ARITHMETIC(-, cp_add(x, -y)) CP_ARITHMETIC(*, cp_multiply(x, y)) CP_ARITHMETIC(/, cp_divide(x, y))

// --- conversions ---------------------------------------------------------------------------------------------------------

// A float that becomes an integer does so by the original's value; ambiguous if the neighbourhood gives another integer.
template <class T, class O, class V> static T cp_integer(const Tracked<O, V> &x) {
    double e = x.error();
    if (e > 0 && trunc(x.value() - e) != trunc(x.value() + e)) cp_ambiguous++;
    return T(x.o);
}
template <class T, class F> static T cp_to(const F &x) {
    if constexpr (cp_is_tracked<T>::value || !cp_is_tracked<F>::value) return T(x);
    else if constexpr (std::is_same<T, bool>::value) return bool(x);
    else return cp_integer<T>(x);
}
template <class T, class F> static void cp_put(T &target, const F &x) { target = cp_to<T>(x); }

// if (condition) target = value, where both outcomes meet when the condition hangs on rounding (see cp_select).
template <class C, class T, class A> static void cp_assign_if(C condition, T target, A value) {
    long before = cp_ambiguous;
    double outer = cp_width;
    cp_width = 0;
    bool taken = bool(condition());
    long counted = cp_ambiguous - before;
    double width = cp_width;
    cp_width = outer > width ? outer : width;
    if (counted == 0) {
        if (taken) cp_put(target(), value());
        return;
    }
    auto &old = target();
    std::decay_t<decltype(old)> x(value()), y(old);
    old = cp_meet(taken, x, y, width, counted);
}

// A value written to memory is a definite float: the order in which it was summed can no longer change.
template <class T> static T cp_stored(T x) {
    if constexpr (cp_is_tracked<T>::value) { x.r += x.m * x.m; x.m = 0; }
    return x;
}

// --- math.h --------------------------------------------------------------------------------------------------------------
// Unary functions: derivative d in terms of x and z = f(x); units: CUDA's documented maximum error in ulp for float and
// double (CUDA C++ Programming Guide, Mathematical Functions), to which half an ulp is added; an ulp is two units.

static inline double cp_digamma(double x) {
    double h = 1e-6 * (fabs(x) > 1e-3 ? fabs(x) : 1e-3);
    return (lgamma(x + h) - lgamma(x - h)) / (2 * h);
}
#define CP_UNARY(name, ulp32, ulp64, derivative)                                                                           \
    static inline cp_f32 cp_##name(const cp_f32 &a) {                                                                      \
        double x = a.value(), z = name(x), d = derivative;                                                                 \
        (void)x;                                                                                                           \
        return cp_limited<2 * (ulp32) + 1>(cp_f32(name##f(a.o), z, cp_scaled(d, a.m), cp_squared(d, a.r)), a, #name);       \
    }                                                                                                                      \
    static inline cp_f64 cp_##name(const cp_f64 &a) {                                                                      \
        cp_wide value = CP_WIDE(name)(a.v);                                                                                \
        double x = a.value(), z = double(value), d = derivative;                                                           \
        (void)x;                                                                                                           \
        return cp_limited<2 * (ulp64) + 1>(cp_f64(name(a.o), value, cp_scaled(d, a.m), cp_squared(d, a.r)), a, #name);      \
    }
// sqrt, asin and acos have infinite slopes at an end of their domain; an error e there costs at most about sqrt(2e).
template <int units, class T> static T cp_limited(T z, const T &x, const char *name) {
    bool square = strcmp(name, "sqrt") == 0;
    if (square || strcmp(name, "asin") == 0 || strcmp(name, "acos") == 0) {
        double most = sqrt(2 * x.m), squares = 2 * sqrt(x.r);
        if (z.m > most) z.m = most;
        if (z.r > squares) z.r = squares;
    }
    if (x.exact() && z.value() == 0) return z;
    return z.rounded(square ? 1 : units);
}
CP_UNARY(sqrt, 0, 0, 0.5 / z) CP_UNARY(cbrt, 1, 1, 1 / (3 * z * z))
CP_UNARY(exp, 2, 1, z) CP_UNARY(exp2, 2, 1, z * M_LN2) CP_UNARY(expm1, 1, 1, z + 1)
CP_UNARY(log, 1, 1, 1 / x) CP_UNARY(log2, 1, 1, 1 / (x * M_LN2)) CP_UNARY(log10, 2, 1, 1 / (x * M_LN10))
CP_UNARY(log1p, 1, 1, 1 / (1 + x))
CP_UNARY(sin, 2, 2, cos(x)) CP_UNARY(cos, 2, 2, sin(x)) CP_UNARY(tan, 4, 2, 1 + z * z)
CP_UNARY(asin, 2, 2, 1 / sqrt(1 - x * x)) CP_UNARY(acos, 2, 2, 1 / sqrt(1 - x * x)) CP_UNARY(atan, 2, 2, 1 / (1 + x * x))
CP_UNARY(sinh, 3, 2, cosh(x)) CP_UNARY(cosh, 2, 1, sinh(x)) CP_UNARY(tanh, 2, 1, 1 - z * z)
CP_UNARY(asinh, 3, 3, 1 / sqrt(1 + x * x)) CP_UNARY(acosh, 4, 3, 1 / sqrt(x * x - 1)) CP_UNARY(atanh, 3, 2, 1 / (1 - x * x))
CP_UNARY(erf, 2, 2, M_2_SQRTPI * exp(-x * x)) CP_UNARY(erfc, 4, 5, M_2_SQRTPI * exp(-x * x))
CP_UNARY(tgamma, 5, 10, z * cp_digamma(x)) CP_UNARY(lgamma, 6, 4, cp_digamma(x))

// exp10 is GNU's: no wide version of it, so 10**x.
static inline cp_f32 cp_exp10(const cp_f32 &a) {
    double z = pow(10.0, a.v);
    return cp_f32(powf(10.0f, a.o), z, cp_scaled(z * M_LN10, a.m), cp_squared(z * M_LN10, a.r)).rounded(5);
}
static inline cp_f64 cp_exp10(const cp_f64 &a) {
    cp_wide value = CP_WIDE(pow)(cp_wide(10), a.v);
    double z = double(value);
    return cp_f64(pow(10.0, a.o), value, cp_scaled(z * M_LN10, a.m), cp_squared(z * M_LN10, a.r)).rounded(3);
}

// Bessel functions: relative error for |x| < 8, absolute beyond (2.2e-6 for float, 5e-12 for double).
#define CP_BESSEL(name, derivative)                                                                                        \
    template <class T> static T cp_##name(const T &a) {                                                                    \
        double x = a.value(), z = name(x), d = derivative, absolute = sizeof(typename T::O) == 4 ? 2.2e-6 : 5e-12;         \
        T y(typename T::O(name(double(a.o))), z, cp_scaled(d, a.m), cp_squared(d, a.r) + (fabs(x) < 8 ? 0 : absolute * absolute)); \
        return y.rounded(sizeof(typename T::O) == 4 ? 19 : 15);                                                            \
    }
CP_BESSEL(j0, -j1(x)) CP_BESSEL(j1, j0(x) - j1(x) / x) CP_BESSEL(y0, -y1(x)) CP_BESSEL(y1, y0(x) - y1(x) / x)

static inline float cp_own(float (*f)(float, float), double (*)(double, double), float a, float b) { return f(a, b); }
static inline double cp_own(float (*)(float, float), double (*f)(double, double), double a, double b) { return f(a, b); }
static inline double cp_up(double (*f)(double, double), cp_wide (*)(cp_wide, cp_wide), double a, double b) { return f(a, b); }
static inline cp_wide cp_up(double (*)(double, double), cp_wide (*f)(cp_wide, cp_wide), cp_wide a, cp_wide b) { return f(a, b); }

// Binary functions: derivatives dx, dy in terms of x, y and z.
#define CP_BINARY(name, ulp32, ulp64, derivative_x, derivative_y)                                                          \
    template <class T> static T cp_##name(const T &a, const T &b) {                                                        \
        T c(cp_own(name##f, name, a.o, b.o), cp_up(name, CP_WIDE(name), a.v, b.v), 0, 0);                                  \
        double x = a.value(), y = b.value(), z = c.value(), dx = derivative_x, dy = derivative_y;                          \
        (void)x; (void)y; (void)z;                                                                                         \
        c.m = cp_scaled(dx, a.m) + cp_scaled(dy, b.m);                                                                     \
        c.r = cp_squared(dx, a.r) + cp_squared(dy, b.r);                                                                   \
        return c.rounded(sizeof(typename T::O) == 4 ? 2 * (ulp32) + 1 : 2 * (ulp64) + 1);                                  \
    }
CP_BINARY(pow, 4, 2, (x == 0 ? 0 : y * z / x), (x > 0 ? z * log(x) : 0))
CP_BINARY(atan2, 3, 2, y / (x * x + y * y), -x / (x * x + y * y))
CP_BINARY(hypot, 3, 2, (z == 0 ? 1 : x / z), (z == 0 ? 1 : y / z))

template <class T> static T cp_extreme(const T &a, const T &b, typename T::O o, typename T::V v) {
    double gap = fabs(double(a.v - b.v));
    if (gap > a.error() + b.error()) return v == a.v ? T(o, v, a.m, a.r) : T(o, v, b.m, b.r);
    return T(o, v, a.m > b.m ? a.m : b.m, a.r > b.r ? a.r : b.r);
}
template <class T> static T cp_fmin(const T &a, const T &b) {
    return cp_extreme(a, b, cp_own(fminf, fmin, a.o, b.o), cp_up(fmin, CP_WIDE(fmin), a.v, b.v));
}
template <class T> static T cp_fmax(const T &a, const T &b) {
    return cp_extreme(a, b, cp_own(fmaxf, fmax, a.o, b.o), cp_up(fmax, CP_WIDE(fmax), a.v, b.v));
}
template <class T> static T cp_fabs(const T &a) {
    return T(a.o < 0 ? -a.o : a.o + 0, a.v < 0 ? -a.v : a.v + 0, a.m, a.r);
}
template <class T> static T cp_fdim(const T &a, const T &b) {
    T d = a - b, zero;
    return cp_fmax(d, zero);
}
template <class T> static T cp_copysign(const T &a, const T &b) {
    cp_decide(b, T());
    T z = cp_fabs(a);
    return std::signbit(b.o) ? -z : z;
}
template <class T> static T cp_fma(const T &a, const T &b, const T &c) {
    T z = a * b + c;
    z.o = sizeof(typename T::O) == 4 ? typename T::O(fmaf(a.o, b.o, c.o)) : typename T::O(fma(a.o, b.o, c.o));
    return z;
}

// Rounding to whole numbers is exact and jumps: by the original's value, ambiguous within its error of a jump.
#define CP_ROUNDING(name)                                                                                                  \
    template <class T> static T cp_##name(const T &a) {                                                                    \
        double e = a.error();                                                                                              \
        if (e > 0 && name(a.value() - e) != name(a.value() + e)) cp_ambiguous++;                                           \
        typename T::O o = typename T::O(name(a.o));                                                                        \
        return T(o, o, 0, 0);                                                                                              \
    }
CP_ROUNDING(floor) CP_ROUNDING(ceil) CP_ROUNDING(trunc) CP_ROUNDING(round) CP_ROUNDING(rint) CP_ROUNDING(nearbyint)
#define CP_ROUND_TO(name, type, by)                                                                                        \
    template <class T> static type cp_##name(const T &a) { return (type)cp_##by(a).o; }
CP_ROUND_TO(lround, long, round) CP_ROUND_TO(llround, long long, round)
CP_ROUND_TO(lrint, long, rint) CP_ROUND_TO(llrint, long long, rint)

// x - n*y with the whole number n that the original found: exact in itself.
template <class T> static T cp_reduced(const T &a, const T &b, typename T::O o) {
    double n = rint(double((typename T::V)(a.v - o) / b.v)), q = a.value() / b.value();
    double e = a.exact() && b.exact() ? 0 : (a.error() + fabs(q) * b.error()) / fabs(b.value());
    if (e > 0 && trunc(q - e) != trunc(q + e)) cp_ambiguous++;
    return T(o, a.v - typename T::V(n) * b.v, a.m + cp_scaled(n, b.m), a.r + cp_squared(n, b.r));
}
template <class T> static T cp_fmod(const T &a, const T &b) { return cp_reduced(a, b, cp_own(fmodf, fmod, a.o, b.o)); }
template <class T> static T cp_remainder(const T &a, const T &b) {
    return cp_reduced(a, b, cp_own(remainderf, remainder, a.o, b.o));
}
template <class T> static T cp_ldexp(const T &a, int n) {
    return T(typename T::O(ldexp(a.o, n)), typename T::V(a.v * typename T::V(ldexp(1.0, n))), ldexp(a.m, n), ldexp(a.r, 2 * n));
}
template <class T> static T cp_scalbn(const T &a, int n) { return cp_ldexp(a, n); }
template <class T> static T cp_scalbln(const T &a, long n) { return cp_ldexp(a, int(n)); }
template <class T> static T cp_nextafter(const T &a, const T &b) {
    typename T::O o = cp_own(nextafterf, nextafter, a.o, b.o);
    return T(o, a.v + (typename T::V(o) - typename T::V(a.o)), a.m, a.r).rounded();
}
template <class T> static T cp_logb(const T &a) { return T(typename T::O(logb(a.o)), logb(a.o), 0, 0); }
template <class T> static int cp_ilogb(const T &a) { return ilogb(a.o); }
template <class T> static bool cp_isnan(const T &a) { return a.o != a.o; }
template <class T> static bool cp_isinf(const T &a) { return a.o - a.o != 0 && a.o == a.o; }
template <class T> static bool cp_isfinite(const T &a) { return a.o - a.o == 0; }
template <class T> static bool cp_signbit(const T &a) { cp_decide(a, T()); return std::signbit(a.o); }

// --- files ---------------------------------------------------------------------------------------------------------------

struct cp_file {
    std::vector<unsigned char> data;
    size_t at = 0;
    explicit cp_file(const char *path) {
        FILE *file = fopen(path, "rb");
        if (!file) { fprintf(stderr, "reference: can't open the input file\n"); exit(2); }
        unsigned char part[65536];
        for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) data.insert(data.end(), part, part + n);
        fclose(file);
    }
    const unsigned char *take(size_t bytes) {
        if (at + bytes > data.size()) { fprintf(stderr, "reference: input file too short\n"); exit(2); }
        at += bytes;
        return data.data() + at - bytes;
    }
    long long integer() { long long x; memcpy(&x, take(8), 8); return x; }
    double real() { double x; memcpy(&x, take(8), 8); return x; }
};

template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0> static void cp_load(T &x, const unsigned char *from) {
    memcpy(&x, from, sizeof x);
}
template <class O, class V> static void cp_load(Tracked<O, V> &x, const unsigned char *from) {
    O o;
    memcpy(&o, from, sizeof o);
    x = Tracked<O, V>(o);
}

// One output: hi, lo (v in two doubles), bound (-1: exact) and the original's value (a double's or an int64's bytes) a leaf.
struct cp_columns {
    std::vector<double> hi, lo, bound;
    std::vector<long long> own;
    void write(FILE *file) const {
        long long count = (long long)hi.size();
        fwrite(&count, 8, 1, file);
        fwrite(hi.data(), 8, hi.size(), file);
        fwrite(lo.data(), 8, lo.size(), file);
        fwrite(bound.data(), 8, bound.size(), file);
        fwrite(own.data(), 8, own.size(), file);
    }
};
template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0> static void cp_emit(const T &x, cp_columns &to) {
    to.hi.push_back(double(x));
    to.lo.push_back(0);
    to.bound.push_back(-1);
    to.own.push_back((long long)x);
}
template <class O, class V> static void cp_emit(const Tracked<O, V> &x, cp_columns &to) {
    double hi = double(x.v), own = double(x.o);
    long long bits;
    memcpy(&bits, &own, 8);
    to.hi.push_back(hi);
    to.lo.push_back(hi - hi == 0 ? double(x.v - V(hi)) : 0);
    to.bound.push_back(CP_K * x.error());
    to.own.push_back(bits);
}
