// Spring coefficients: the clamped semi-implicit step and the exact damped flow.
#include <math.h>
#include <string.h>

#include "sway/specimen.h"

static bool spring_is_valid(double mass, double stiffness, double damping, double drag)
{
    return isfinite(mass) && mass > 0.0 && isfinite(stiffness) && stiffness >= 0.0 &&
           isfinite(damping) && damping >= 0.0 && isfinite(drag) && drag >= 0.0;
}

bool wgi_spring_options_are_valid(const wg_spring_options* options)
{
    return isfinite(options->dt) && options->dt > 0.0 && options->clamp >= WG_CLAMP_SOURCE &&
           options->clamp <= WG_CLAMP_NONE;
}

// theta'' = -K theta - G theta' + F over t: theta = a00 theta + a01 r + g F, and so on.
typedef struct exact_flow {
    double a00, a01, a11, g;
} exact_flow;

// e^(-s t) cos(w t) and e^(-s t) sin(w t) / w with w^2 = K - s^2 of either sign.
static void damped_wave(double K, double s, double t, double* wave, double* slope)
{
    const double square = K - s * s;
    if (fabs(square) * t * t < 1e-8) {
        const double x = square * t * t;
        *wave = exp(-s * t) * (1.0 - 0.5 * x);
        *slope = exp(-s * t) * t * (1.0 - x / 6.0);
    } else if (square > 0.0) {
        const double w = sqrt(square);
        *wave = exp(-s * t) * cos(w * t);
        *slope = exp(-s * t) * sin(w * t) / w;
    } else {
        const double w = sqrt(-square);
        const double slow = exp(-K / (s + w) * t), fast = exp(-(s + w) * t);
        *wave = 0.5 * (slow + fast);
        *slope = 0.5 * (slow - fast) / w;
    }
}

// Response to a unit force from rest: series of g'' = 1 - K g - G g' for short times, where the
// closed form loses digits.
static double unit_response(double K, double G, double t, double a00)
{
    if (K * t * t + G * t > 0.5) {
        if (K * t * t > 1e-8)
            return (1.0 - a00) / K;
        return (t + expm1(-G * t) / G) / G;
    }
    double last = 0.0, term = 0.5 * t * t, sum = term;
    for (int n = 1; n < 24; ++n) {
        const double next = (-K * t * t * last - G * t * (n + 1) * term) / ((n + 2.0) * (n + 1.0));
        last = term;
        term = next;
        sum += term;
    }
    return sum;
}

static exact_flow exact_flow_over(double K, double G, double t)
{
    double wave, slope;
    damped_wave(K, 0.5 * G, t, &wave, &slope);
    exact_flow flow;
    flow.a00 = wave + 0.5 * G * slope;
    flow.a01 = slope;
    flow.a11 = wave - 0.5 * G * slope;
    flow.g = unit_response(K, G, t, flow.a00);
    return flow;
}

static void exact_coefficients(double K, double G, double D, double dt, double out[WGI_SPRING_ROWS])
{
    const exact_flow flow = exact_flow_over(K, G, dt);
    out[WGI_SPRING_THETA] = K * flow.a01;
    out[WGI_SPRING_RATE] = 1.0 - flow.a11;
    out[WGI_SPRING_TORQUE] = flow.a01 * D;
    out[WGI_SPRING_EXTRA + 0] = K * flow.g / dt;
    out[WGI_SPRING_EXTRA + 1] = 1.0 - flow.a01 / dt;
    out[WGI_SPRING_EXTRA + 2] = flow.g * D / dt;
    out[WGI_SPRING_EXTRA + 3] = flow.a01 * G;
    out[WGI_SPRING_EXTRA + 4] = flow.g * G / dt;
}

void wgi_spring_coefficients(
    double mass, double stiffness, double damping, double drag, const wg_spring_options* options,
    double out[WGI_SPRING_ROWS])
{
    const double dt = options->dt;
    for (int i = 0; i < WGI_SPRING_ROWS; ++i)
        out[i] = 0.0;
    if (options->clamp == WG_CLAMP_EXPONENTIAL) {
        exact_coefficients(stiffness / mass, damping / mass, drag / mass, dt, out);
        return;
    }
    double k = stiffness, c = damping, d = drag;
    if (options->clamp != WG_CLAMP_NONE) {
        k = fmin(stiffness, mass / (dt * dt));
        c = fmin(damping, mass / dt);
    }
    if (options->clamp == WG_CLAMP_COMPENSATED && stiffness > 0.0)
        d = drag * (k / stiffness);
    out[WGI_SPRING_THETA] = k * dt / mass;
    out[WGI_SPRING_RATE] = c * dt / mass;
    out[WGI_SPRING_TORQUE] = d * dt / mass;
}

int32_t wg_forest_spring_rows(int32_t clamp)
{
    return clamp == WG_CLAMP_EXPONENTIAL ? WGI_SPRING_ROWS : WGI_SPRING_EXTRA;
}

wg_status wg_forest_springs(
    int32_t count, const wg_springs* springs, const wg_spring_options* options, float* out)
{
    if (count < 1 || !wgi_spring_options_are_valid(options))
        return WG_ERR_VALUE;
    for (int32_t i = 0; i < count; ++i)
        if (!spring_is_valid(
                springs->mass[i], springs->stiffness[i], springs->damping[i], springs->drag[i]))
            return WG_ERR_VALUE;
    const size_t rows = (size_t)wg_forest_spring_rows(options->clamp);
    const size_t padded = (size_t)wgi_padded(count);
    memset(out, 0, rows * padded * sizeof(float));
    for (size_t i = 0; i < (size_t)count; ++i) {
        double row[WGI_SPRING_ROWS];
        wgi_spring_coefficients(
            springs->mass[i], springs->stiffness[i], springs->damping[i], springs->drag[i], options,
            row);
        for (size_t r = 0; r < rows; ++r)
            out[r * padded + i] = (float)row[r];
    }
    return WG_OK;
}
