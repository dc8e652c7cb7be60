// Pricing, risk and order flow, in the manner of a desk's C library.
#include <cuda_runtime.h>

#define STEPS 255

static __device__ __forceinline__ double normal_cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

// run: block=256 grid=4 spot=double[n] strike=double[n] years=double[n] call=double[n] n=2000 rate=0.03 vol=0.2
__global__ void price_calls(const double *__restrict__ spot, const double *__restrict__ strike,
                            const double *__restrict__ years, double *__restrict__ call, int n, double rate, double vol)
{
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const double s = spot[i] + 1.0, k = strike[i] + 1.0, y = years[i] + 0.1;
        const double sd = vol * sqrt(y);
        const double d1 = (log(s / k) + (rate + 0.5 * vol * vol) * y) / sd;
        call[i] = s * normal_cdf(d1) - k * exp(-rate * y) * normal_cdf(d1 - sd);
    }
}

// Path after path, as the simulator has written them.
// run: block=128 grid=8 fixings=float[n*dates] payoff=float[n] n=1000 dates=64 strike=0.5
__global__ void asian_payoff_by_path(const float *fixings, float *payoff, int n, int dates, float strike)
{
    int path = blockDim.x * blockIdx.x + threadIdx.x;
    if (path >= n)
        return;
    float mean = 0.f;
    for (int d = 0; d < dates; d++)
        mean += fixings[path * dates + d]; // expect: CP101@fixings sectors=32
    mean /= dates;
    payoff[path] = mean > strike ? mean - strike : 0.f;
}

// run: block=128 grid=8 fixings=float[n*dates] payoff=float[n] n=1024 dates=64 strike=0.5
__global__ void asian_payoff_by_date(const float *fixings, float *payoff, int n, int dates, float strike)
{
    int path = blockDim.x * blockIdx.x + threadIdx.x;
    if (path >= n)
        return;
    float mean = 0.f;
    const float *p = fixings + path;
    for (int d = 0; d < dates; d++, p += n)
        mean += *p;
    mean /= dates;
    payoff[path] = mean > strike ? mean - strike : 0.f;
}

void asian(const float *fixings, float *payoff, int n, int dates, float strike)
{
    asian_payoff_by_path<<<(n + 127) / 128, 128>>>(fixings, payoff, n, dates, strike);
    asian_payoff_by_date<<<(n + 127) / 128, 128>>>(fixings, payoff, n, dates, strike);
}

// A block rolls one tree back; a node reads its upper neighbour while that one is being replaced.
// run: block=256 grid=8 spot=float[8] price=float[8] up=0.52 discount=0.999
// cudaperf: block=256
__global__ void tree_rollback_in_place(const float *spot, float *price, float up, float discount)
{
    __shared__ float v[256];
    const int t = threadIdx.x;
    v[t] = fmaxf(spot[blockIdx.x] * expf(0.01f * (2 * t - STEPS)) - 0.5f, 0.f);
    for (int step = STEPS; step > 0; --step) {
        __syncthreads();
        if (t < step)
            v[t] = discount * (up * v[t + 1] + (1.f - up) * v[t]); // expect: CP302@v
    }
    if (t == 0)
        price[blockIdx.x] = v[0];
}

// run: block=256 grid=8 spot=float[8] price=float[8] up=0.52 discount=0.999
// cudaperf: block=256
__global__ void tree_rollback(const float *spot, float *price, float up, float discount)
{
    __shared__ float v[256];
    const int t = threadIdx.x;
    float mine = fmaxf(spot[blockIdx.x] * expf(0.01f * (2 * t - STEPS)) - 0.5f, 0.f);
    v[t] = mine;
    __syncthreads();
    for (int step = STEPS; step > 0; --step) {
        if (t < step)
            mine = discount * (up * v[t + 1] + (1.f - up) * mine);
        __syncthreads();
        v[t] = mine;
        __syncthreads();
    }
    if (t == 0)
        price[blockIdx.x] = mine;
}

// run: block=256 grid=8 sector=int[n]:below(m) weight=float[n] price=float[n] exposure=float[m]:zero n=2000 m=11
__global__ void sector_exposure(const int *sector, const float *weight, const float *price, float *exposure, int n, int m)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n && sector[i] < m)
        exposure[sector[i]] += weight[i] * price[i]; // expect: CP305@exposure // silent: CP101
}

// Best bid of every instrument; prices are in ticks.
// run: block=256 grid=8 instrument=int[n]:below(m) ticks=int[n] best=int[m]:zero n=2000 m=400
__global__ void best_bids(const int *__restrict__ instrument, const int *__restrict__ ticks, int *__restrict__ best, int n, int m)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n)
        return;
    int book = instrument[i];
    if (book < m)
        atomicMax(best + book, ticks[i]); // silent: CP101
}

// Returns asset after asset: neighbours in x are a history apart.
// run: block=16x16 grid=4x4 r=float[assets*days] cov=float[assets*assets] assets=64 days=120
// cudaperf: block=16x16
__global__ void covariance_rows(const float *r, float *cov, int assets, int days)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= assets || j >= assets)
        return;
    float sum = 0.f;
    for (int d = 0; d < days; ++d) {
        float other = r[i * days + d];
        sum += other * r[j * days + d]; // expect: CP101@r sectors=16
    }
    cov[i * assets + j] = sum / (days - 1);
}

// run: block=16x16 grid=4x4 r=float[assets*days] cov=float[assets*assets] assets=64 days=120
// cudaperf: block=16x16
__global__ void covariance_days(const float *r, float *cov, int assets, int days)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= assets || j >= assets)
        return;
    float sum = 0.f;
    for (int d = 0; d < days; ++d)
        sum += r[d * assets + i] * r[d * assets + j];
    cov[i * assets + j] = sum / (days - 1);
}

// Knots of the curve are copied, and used at once.
// run: block=128 grid=8 zero=double[knots] maturity=double[n] factor=double[n] n=1000 knots=60
__global__ void discount_factors(const double *zero, const double *maturity, double *factor, int n, int knots)
{
    __shared__ double curve[64];
    if (threadIdx.x < knots)
        curve[threadIdx.x] = zero[threadIdx.x]; // also: CP302
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n)
        return;
    double y = maturity[i], rate = 0.0;
    for (int k = 0; k < knots; ++k)
        rate += curve[k] * exp(-(y - k) * (y - k)); // expect: CP302@curve
    factor[i] = exp(-rate * y);
}

// run: block=128 grid=8 seed=unsigned[n] payoff=float[8] n=1000 drift=0.01
__global__ void simulate_and_sum(const unsigned *seed, float *payoff, int n, float drift)
{
    __shared__ float sum[128];
    int t = threadIdx.x;
    int path = blockIdx.x * 128 + t;
    if (path >= n)
        return; // expect: CP306
    unsigned x = seed[path] * 2654435761u + 1u;
    float s = 1.f;
    for (int k = 0; k < 50; ++k) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        s *= 1.f + drift * ((x >> 9) * 0x1p-23f - 0.5f);
    }
    sum[t] = s;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads(); // also: CP306
        if (t < half)
            sum[t] += sum[t + half];
    }
    if (t == 0)
        payoff[blockIdx.x] = sum[0];
}

void desk(const double *zero, const double *maturity, double *factor, const unsigned *seed, float *payoff, int n)
{
    const dim3 threads(128);
    const dim3 blocks((n + threads.x - 1) / threads.x);
    discount_factors<<<blocks, threads>>>(zero, maturity, factor, n, 60);
    simulate_and_sum<<<blocks, threads>>>(seed, payoff, n, 0.01f);
}

// Each thread rehearses a path of 32 dates in its own row.
// run: block=64 grid=4 seed=unsigned[256] payoff=float[256]
// cudaperf: block=64
__global__ void lookback_payoff(const unsigned *seed, float *payoff)
{
    __shared__ float path[64][32];
    const int t = threadIdx.x;
    unsigned x = seed[blockIdx.x * 64 + t] + 1u;
    float s = 1.f, low = 1.f;
    for (int d = 0; d < 32; ++d) {
        x = x * 1664525u + 1013904223u;
        s *= 1.f + 0.02f * ((x >> 9) * 0x1p-23f - 0.5f);
        path[t][d] = s; // expect: CP102@path degree=32
    }
    for (int d = 0; d < 32; ++d)
        low = fminf(low, path[t][d]); // expect: CP102@path degree=32
    payoff[blockIdx.x * 64 + t] = s - low;
}

// run: block=64 grid=4 seed=unsigned[256] payoff=float[256]
// cudaperf: block=64
__global__ void lookback_payoff_by_date(const unsigned *seed, float *payoff)
{
    __shared__ float path[32][64];
    const int t = threadIdx.x;
    unsigned x = seed[blockIdx.x * 64 + t] + 1u;
    float s = 1.f, low = 1.f;
    for (int d = 0; d < 32; ++d) {
        x = x * 1664525u + 1013904223u;
        s *= 1.f + 0.02f * ((x >> 9) * 0x1p-23f - 0.5f);
        path[d][t] = s;
    }
    for (int d = 0; d < 32; ++d)
        low = fminf(low, path[d][t]);
    payoff[blockIdx.x * 64 + t] = s - low;
}
