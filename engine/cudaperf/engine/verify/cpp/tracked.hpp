// Numbers that carry what the original computes, what it should have computed, and how far rounding may take a candidate.
//
// cp_f32 and cp_f64 replace float and double in every variable; expressions are Tracked. Both hold
//   o  the original's own value: same operations, same precision, no contraction; it decides every branch and every cast to
//      int, so this program follows the original's control flow and its integers are the original's;
//   v  the same expression one precision up (double for float; __float128, else long double, for double).
// and the error that a candidate may make, in absolute units, in three parts:
//   r  the sum of the squares of the expression's own roundings (they are independent: they add in quadrature);
//   m  to first order and linearly: the unit roundoff times the magnitude of what was summed (what another order may cost);
//   terms  what each variable that was read brings along, with its sign, so that u - 4*c*u knows that both are the same u.
// An assignment folds the three into one error `e` of the variable, under a new identity. `s += x` and `s = s + x` keep s's r
// apart, so that a long sum's roundings stay in quadrature. A candidate may differ from v by CP_K times the error.
// Values that were only copied have no error: they must be equal. cp_ambiguous counts decisions that lie within rounding of
// going the other way. docs/decisions/001-tolerance.md says why.
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

template <class O, class V> struct Cell;
template <class O, class V> struct Tracked;
typedef Cell<float, double> cp_f32;
typedef Cell<double, cp_wide> cp_f64;
typedef Tracked<float, double> cp_e32;
typedef Tracked<double, cp_wide> cp_e64;

template <class T> struct cp_rank { static constexpr int value = 0; };
template <> struct cp_rank<cp_f32> { static constexpr int value = 1; };
template <> struct cp_rank<cp_e32> { static constexpr int value = 1; };
template <> struct cp_rank<float> { static constexpr int value = 1; };
template <> struct cp_rank<cp_f64> { static constexpr int value = 2; };
template <> struct cp_rank<cp_e64> { static constexpr int value = 2; };
template <> struct cp_rank<double> { static constexpr int value = 2; };
template <class T> struct cp_is_cell : std::false_type {};
template <class O, class V> struct cp_is_cell<Cell<O, V>> : std::true_type {};
template <class T> struct cp_is_tracked : cp_is_cell<T> {};
template <class O, class V> struct cp_is_tracked<Tracked<O, V>> : std::true_type {};
template <class A, class B> struct cp_common {
    static constexpr int rank = cp_rank<A>::value > cp_rank<B>::value ? cp_rank<A>::value : cp_rank<B>::value;
    typedef std::conditional_t<rank == 2, cp_e64, cp_e32> type;
};
template <class A, class B> using cp_if_tracked = std::enable_if_t<cp_is_tracked<A>::value || cp_is_tracked<B>::value, int>;

struct cp_term { unsigned long id; double error; };
static unsigned long cp_identities = 0;

static inline double cp_scaled(double derivative, double error) { return error == 0 ? 0 : derivative * error; }

template <class O_, class V_> struct Tracked {
    typedef O_ O;
    typedef V_ V;
    static constexpr double u = cp_unit<O>::u;
    static constexpr int most = 8;  // further variables' errors go to m
    O o = 0;
    V v = 0;
    double m = 0, r = 0;
    int n = 0;
    cp_term terms[most];

    Tracked() {}
    Tracked(O own, V value) : o(own), v(value) {}
    Tracked(const Tracked &x) { *this = x; }
    Tracked &operator=(const Tracked &x) {
        o = x.o, v = x.v, m = x.m, r = x.r, n = x.n;
        for (int i = 0; i < n; i++) terms[i] = x.terms[i];
        return *this;
    }
    template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0> Tracked(T x) : o(O(x)), v(V(x)) {
        if (V(o) != v) rounded();
    }
    template <class P, class Q> Tracked(const Tracked<P, Q> &x) : o(O(x.o)), v(V(x.v)), m(x.m), r(x.r), n(x.n) {
        for (int i = 0; i < n; i++) terms[i] = x.terms[i];
        if (sizeof(P) > sizeof(O) && (P(o) != x.o || !x.exact())) rounded();
    }
    template <class P, class Q> Tracked(const Cell<P, Q> &x) : Tracked(x.read()) {}
    explicit operator bool() const;
    Tracked operator-() const {
        Tracked z(*this);
        z.o = -o, z.v = -v;
        for (int i = 0; i < n; i++) z.terms[i].error = -terms[i].error;
        return z;
    }
    Tracked operator+() const { return *this; }

    bool exact() const { return m == 0 && r == 0 && n == 0; }
    bool zero() const { return o == 0 && v == 0 && exact(); }
    bool power_of_two() const { int e; return exact() && fabs(frexp(value(), &e)) == 0.5; }
    double value() const { return double(v); }
    double linear() const {
        double sum = m;
        for (int i = 0; i < n; i++) sum += fabs(terms[i].error);
        return sum;
    }
    double error() const { return linear() + sqrt(r); }
    double seed() const { double least = u * fabs(value()); return m > least ? m : least; }

    Tracked &rounded(double units = 1) {
        double e = units * u * fabs(value());
        if (e < cp_unit<O>::tiny) e = value() == 0 && exact() ? 0 : cp_unit<O>::tiny;
        r += e * e;
        return *this;
    }
    void add(cp_term t) {
        if (t.error == 0) return;
        for (int i = 0; i < n; i++)
            if (terms[i].id == t.id) {
                terms[i].error += t.error;
                return;
            }
        if (n < most) terms[n++] = t;
        else m += fabs(t.error);
    }
    // Adds the error of an operand that this value depends on with derivative d; its m is given.
    void inherit(const Tracked &x, double d, double sum) {
        m += sum;
        r += cp_scaled(d, cp_scaled(d, x.r));
        for (int i = 0; i < x.n; i++) add({x.terms[i].id, cp_scaled(d, x.terms[i].error)});
    }
    void inherit(const Tracked &x, double d) { inherit(x, d, cp_scaled(fabs(d), x.m)); }
    void limit(double most_linear, double most_squares) {
        if (linear() > most_linear) m = most_linear, n = 0;
        if (r > most_squares) r = most_squares;
    }
};

// A variable.
template <class O_, class V_> struct Cell {
    typedef O_ O;
    typedef V_ V;
    typedef Tracked<O, V> T;
    O o = 0;
    V v = 0;
    double e = 0, r = 0;
    unsigned long id = 0;

    Cell() = default;
    Cell(const T &x) { put(x); }
    template <class P, class Q> Cell(const Tracked<P, Q> &x) { put(T(x)); }
    template <class P, class Q> Cell(const Cell<P, Q> &x) { put(T(x)); }
    template <class A, std::enable_if_t<std::is_arithmetic<A>::value, int> = 0> Cell(A x) { put(T(x)); }
    explicit operator bool() const { return bool(read()); }
    T operator-() const { return -read(); }
    T operator+() const { return read(); }

    T read() const {
        T x(o, v);
        x.add({id, e + sqrt(r)});
        return x;
    }
    // The value with the sum's own roundings apart, for the sum itself.
    T continued() const {
        T x(o, v);
        x.m = e;
        x.r = r;
        return x;
    }
    void put(const T &x) { o = x.o, v = x.v, e = x.error(), r = 0, id = ++cp_identities; }
    void proceed(const T &x) { o = x.o, v = x.v, e = x.linear(), r = x.r, id = ++cp_identities; }
};

// --- decisions -----------------------------------------------------------------------------------------------------------

template <class T> static void cp_decide(const T &a, const T &b) {
    if (a.exact() && b.exact()) return;
    T difference;
    difference.inherit(a, 1);
    difference.inherit(b, -1);
    double width = difference.error();
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
        const T &wider = x.error() > y.error() ? x : y;
        T w = wider;
        w.o = z.o, w.v = z.v, w.m += gap;
        return w;
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

template <class T> static T cp_with(const T &x, typename T::O o, typename T::V v) {
    T z(x);
    z.o = o, z.v = v;
    return z;
}
template <class T> static T cp_add(const T &a, const T &b) {
    if (a.zero() || b.zero()) return cp_with(a.zero() ? b : a, a.o + b.o, a.v + b.v);
    T z(a.o + b.o, a.v + b.v);
    z.inherit(a, 1, a.seed());
    z.inherit(b, 1, b.seed());
    return z.rounded();
}
template <class T> static T cp_multiply(const T &a, const T &b) {
    T z(a.o * b.o, a.v * b.v);
    z.inherit(a, b.value());
    z.inherit(b, a.value());
    return a.power_of_two() || b.power_of_two() ? z : z.rounded();
}
template <class T> static T cp_divide(const T &a, const T &b) {
    T z(a.o / b.o, a.v / b.v);
    double y = 1 / b.value();
    z.inherit(a, y);
    z.inherit(b, -z.value() * y);
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
template <class T> struct cp_expression { typedef T type; };
template <class O, class V> struct cp_expression<Cell<O, V>> { typedef Tracked<O, V> type; };
// C's conversion to the type of a variable: a tracked expression where that is a float's.
template <class T, class F> static typename cp_expression<T>::type cp_to(const F &x) {
    if constexpr (cp_is_tracked<T>::value || !cp_is_tracked<F>::value) return typename cp_expression<T>::type(x);
    else if constexpr (std::is_same<T, bool>::value) return bool(x);
    else return cp_integer<T>(typename cp_common<F, F>::type(x));
}
template <class T, class F> static void cp_put(T &target, const F &x) {
    if constexpr (cp_is_cell<T>::value) target.put(cp_to<T>(x));
    else target = cp_to<T>(x);
}
template <class T> static void cp_put(T &target, const T &x) { target = x; }
// target += x, its roundings kept apart.
template <class T, class F> static void cp_accumulate(T &target, const F &x) {
    typedef typename cp_common<T, F>::type E;
    target.proceed(typename T::T(cp_add(E(target.continued()), E(x))));
}

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
    typedef typename std::decay_t<decltype(old)>::T E;
    old.put(cp_meet(taken, E(value()), E(old), width, counted));
}

// --- math.h --------------------------------------------------------------------------------------------------------------
// Unary functions: derivative d in terms of x and z = f(x); units: CUDA's documented maximum error in ulp for float and
// double (CUDA C++ Programming Guide, Mathematical Functions), to which half an ulp is added; an ulp is two units.

static inline double cp_digamma(double x) {
    double h = 1e-6 * (fabs(x) > 1e-3 ? fabs(x) : 1e-3);
    return (lgamma(x + h) - lgamma(x - h)) / (2 * h);
}
#define CP_UNARY(name, ulp32, ulp64, derivative)                                                                           \
    static inline cp_e32 cp_##name(const cp_e32 &a) {                                                                      \
        double x = a.value(), z = name(x), d = derivative;                                                                 \
        (void)x;                                                                                                           \
        return cp_of(cp_e32(name##f(a.o), z), a, d, #name, 2 * (ulp32) + 1);                                               \
    }                                                                                                                      \
    static inline cp_e64 cp_##name(const cp_e64 &a) {                                                                      \
        cp_wide value = CP_WIDE(name)(a.v);                                                                                \
        double x = a.value(), z = double(value), d = derivative;                                                           \
        (void)x;                                                                                                           \
        return cp_of(cp_e64(name(a.o), value), a, d, #name, 2 * (ulp64) + 1);                                              \
    }
// sqrt, asin and acos have infinite slopes at an end of their domain; an error e there costs at most about sqrt(2e).
template <class T> static T cp_of(T z, const T &x, double derivative, const char *name, double units) {
    z.inherit(x, derivative);
    bool square = strcmp(name, "sqrt") == 0;
    if (square || strcmp(name, "asin") == 0 || strcmp(name, "acos") == 0) z.limit(sqrt(2 * x.linear()), 2 * sqrt(x.r));
    return x.exact() && z.value() == 0 ? z : z.rounded(square ? 1 : units);
}
CP_UNARY(sqrt, 0, 0, 0.5 / z) CP_UNARY(cbrt, 1, 1, 1 / (3 * z * z))
CP_UNARY(exp, 2, 1, z) CP_UNARY(exp2, 2, 1, z * M_LN2) CP_UNARY(expm1, 1, 1, z + 1)
CP_UNARY(log, 1, 1, 1 / x) CP_UNARY(log2, 1, 1, 1 / (x * M_LN2)) CP_UNARY(log10, 2, 1, 1 / (x * M_LN10))
CP_UNARY(log1p, 1, 1, 1 / (1 + x))
CP_UNARY(sin, 2, 2, cos(x)) CP_UNARY(cos, 2, 2, -sin(x)) CP_UNARY(tan, 4, 2, 1 + z * z)
CP_UNARY(asin, 2, 2, 1 / sqrt(1 - x * x)) CP_UNARY(acos, 2, 2, -1 / sqrt(1 - x * x)) CP_UNARY(atan, 2, 2, 1 / (1 + x * x))
CP_UNARY(sinh, 3, 2, cosh(x)) CP_UNARY(cosh, 2, 1, sinh(x)) CP_UNARY(tanh, 2, 1, 1 - z * z)
CP_UNARY(asinh, 3, 3, 1 / sqrt(1 + x * x)) CP_UNARY(acosh, 4, 3, 1 / sqrt(x * x - 1)) CP_UNARY(atanh, 3, 2, 1 / (1 - x * x))
CP_UNARY(erf, 2, 2, M_2_SQRTPI * exp(-x * x)) CP_UNARY(erfc, 4, 5, -M_2_SQRTPI * exp(-x * x))
CP_UNARY(tgamma, 5, 10, z * cp_digamma(x)) CP_UNARY(lgamma, 6, 4, cp_digamma(x))

// exp10 is GNU's: no wide version of it, so 10**x.
static inline cp_e32 cp_exp10(const cp_e32 &a) {
    double z = pow(10.0, a.v);
    return cp_of(cp_e32(powf(10.0f, a.o), z), a, z * M_LN10, "exp10", 5);
}
static inline cp_e64 cp_exp10(const cp_e64 &a) {
    cp_wide value = CP_WIDE(pow)(cp_wide(10), a.v);
    return cp_of(cp_e64(pow(10.0, a.o), value), a, double(value) * M_LN10, "exp10", 3);
}

// Bessel functions: relative error for |x| < 8, absolute beyond (2.2e-6 for float, 5e-12 for double).
#define CP_BESSEL(name, derivative)                                                                                        \
    template <class T> static T cp_##name(const T &a) {                                                                    \
        double x = a.value(), z = name(x), absolute = sizeof(typename T::O) == 4 ? 2.2e-6 : 5e-12;                         \
        T y = cp_of(T(typename T::O(name(double(a.o))), z), a, derivative, #name, sizeof(typename T::O) == 4 ? 19 : 15);   \
        if (!(fabs(x) < 8)) y.m += absolute;                                                                               \
        return y;                                                                                                          \
    }
CP_BESSEL(j0, -j1(x)) CP_BESSEL(j1, j0(x) - j1(x) / x) CP_BESSEL(y0, -y1(x)) CP_BESSEL(y1, y0(x) - y1(x) / x)

static inline float cp_own(float (*f)(float, float), double (*)(double, double), float a, float b) { return f(a, b); }
static inline double cp_own(float (*)(float, float), double (*f)(double, double), double a, double b) { return f(a, b); }
static inline double cp_up(double (*f)(double, double), cp_wide (*)(cp_wide, cp_wide), double a, double b) { return f(a, b); }
static inline cp_wide cp_up(double (*)(double, double), cp_wide (*f)(cp_wide, cp_wide), cp_wide a, cp_wide b) { return f(a, b); }

// Binary functions: derivatives dx, dy in terms of x, y and z.
#define CP_BINARY(name, ulp32, ulp64, derivative_x, derivative_y)                                                          \
    template <class T> static T cp_##name(const T &a, const T &b) {                                                        \
        T c(cp_own(name##f, name, a.o, b.o), cp_up(name, CP_WIDE(name), a.v, b.v));                                        \
        double x = a.value(), y = b.value(), z = c.value(), dx = derivative_x, dy = derivative_y;                          \
        (void)x; (void)y; (void)z;                                                                                         \
        c.inherit(a, dx);                                                                                                  \
        c.inherit(b, dy);                                                                                                  \
        return c.rounded(sizeof(typename T::O) == 4 ? 2 * (ulp32) + 1 : 2 * (ulp64) + 1);                                  \
    }
CP_BINARY(pow, 4, 2, (x == 0 ? 0 : y * z / x), (x > 0 ? z * log(x) : 0))
CP_BINARY(atan2, 3, 2, y / (x * x + y * y), -x / (x * x + y * y))
CP_BINARY(hypot, 3, 2, (z == 0 ? 1 : x / z), (z == 0 ? 1 : y / z))

template <class T> static T cp_extreme(const T &a, const T &b, typename T::O o, typename T::V v) {
    double gap = fabs(double(a.v - b.v));
    if (gap > a.error() + b.error() || (a.exact() && b.exact())) return cp_with(v == a.v ? a : b, o, v);
    return cp_with(a.error() > b.error() ? a : b, o, v);
}
template <class T> static T cp_fmin(const T &a, const T &b) {
    return cp_extreme(a, b, cp_own(fminf, fmin, a.o, b.o), cp_up(fmin, CP_WIDE(fmin), a.v, b.v));
}
template <class T> static T cp_fmax(const T &a, const T &b) {
    return cp_extreme(a, b, cp_own(fmaxf, fmax, a.o, b.o), cp_up(fmax, CP_WIDE(fmax), a.v, b.v));
}
template <class T> static T cp_fabs(const T &a) {
    T z = a.v < 0 ? -a : a;
    return cp_with(z, a.o < 0 ? -a.o : a.o + 0, z.v + 0);
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
        return T(o, o);                                                                                                    \
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
    T z(o, a.v - typename T::V(n) * b.v);
    z.inherit(a, 1);
    z.inherit(b, -n);
    return z;
}
template <class T> static T cp_fmod(const T &a, const T &b) { return cp_reduced(a, b, cp_own(fmodf, fmod, a.o, b.o)); }
template <class T> static T cp_remainder(const T &a, const T &b) {
    return cp_reduced(a, b, cp_own(remainderf, remainder, a.o, b.o));
}
template <class T> static T cp_ldexp(const T &a, int n) {
    T z(typename T::O(ldexp(a.o, n)), typename T::V(a.v * typename T::V(ldexp(1.0, n))));
    z.inherit(a, ldexp(1.0, n));
    return z;
}
template <class T> static T cp_scalbn(const T &a, int n) { return cp_ldexp(a, n); }
template <class T> static T cp_scalbln(const T &a, long n) { return cp_ldexp(a, int(n)); }
template <class T> static T cp_nextafter(const T &a, const T &b) {
    typename T::O o = cp_own(nextafterf, nextafter, a.o, b.o);
    return cp_with(a, o, a.v + (typename T::V(o) - typename T::V(a.o))).rounded();
}
template <class T> static T cp_logb(const T &a) { return T(typename T::O(logb(a.o)), logb(a.o)); }
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
template <class O, class V> static void cp_load(Cell<O, V> &x, const unsigned char *from) {
    O o;
    memcpy(&o, from, sizeof o);
    x = Cell<O, V>(o);
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
template <class O, class V> static void cp_emit(const Cell<O, V> &x, cp_columns &to) {
    double hi = double(x.v), own = double(x.o);
    long long bits;
    memcpy(&bits, &own, 8);
    to.hi.push_back(hi);
    to.lo.push_back(hi - hi == 0 ? double(x.v - V(hi)) : 0);
    to.bound.push_back(CP_K * (x.e + sqrt(x.r)));
    to.own.push_back(bits);
}
