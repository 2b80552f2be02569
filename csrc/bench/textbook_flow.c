#include "textbook_flow.h"

#include <math.h>
#include <string.h>

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define LEVEL(name) JOIN(textbook_, TEXTBOOK_LEVEL, name)
#define AT(i, j, k) (((size_t)(k) * (size_t)g->ny + (size_t)(j)) * (size_t)g->nx + (size_t)(i))

static float clampf(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

static float sample(const textbook_grid* g, const float* f, float x, float y, float z)
{
    x = clampf(x, 0.0f, (float)(g->nx - 1));
    y = clampf(y, 0.0f, (float)(g->ny - 1));
    z = clampf(z, 0.0f, (float)(g->nz - 1));
    int i = (int)x, j = (int)y, k = (int)z;
    if (i > g->nx - 2)
        i = g->nx - 2;
    if (j > g->ny - 2)
        j = g->ny - 2;
    if (k > g->nz - 2)
        k = g->nz - 2;
    const float s = x - (float)i, t = y - (float)j, r = z - (float)k;
    const float low = (1 - t) * ((1 - s) * f[AT(i, j, k)] + s * f[AT(i + 1, j, k)]) +
                      t * ((1 - s) * f[AT(i, j + 1, k)] + s * f[AT(i + 1, j + 1, k)]);
    const float high = (1 - t) * ((1 - s) * f[AT(i, j, k + 1)] + s * f[AT(i + 1, j, k + 1)]) +
                       t * ((1 - s) * f[AT(i, j + 1, k + 1)] + s * f[AT(i + 1, j + 1, k + 1)]);
    return (1 - r) * low + r * high;
}

void LEVEL(_advect)(const textbook_grid* g, const float* velocity, float dt, float* out)
{
    const size_t cells = (size_t)g->nx * (size_t)g->ny * (size_t)g->nz;
    const float *u = velocity, *v = velocity + cells, *w = velocity + 2 * cells;
    memcpy(out, velocity, 3 * cells * sizeof(float));
    for (int k = 1; k < g->nz - 1; ++k)
        for (int j = 1; j < g->ny - 1; ++j)
            for (int i = 1; i < g->nx - 1; ++i) {
                const size_t n = AT(i, j, k);
                const float x = (float)i - u[n] * dt / g->h;
                const float y = (float)j - v[n] * dt / g->h;
                const float z = (float)k - w[n] * dt / g->h;
                out[n] = sample(g, u, x, y, z);
                out[cells + n] = sample(g, v, x, y, z);
                out[2 * cells + n] = sample(g, w, x, y, z);
            }
}

void LEVEL(_confine)(
    const textbook_grid* g, const float* velocity, float dt, float epsilon, float* omega,
    float* size, float* out)
{
    const size_t cells = (size_t)g->nx * (size_t)g->ny * (size_t)g->nz;
    const float *u = velocity, *v = velocity + cells, *w = velocity + 2 * cells;
    const float half = 0.5f / g->h;
    memcpy(out, velocity, 3 * cells * sizeof(float));
    for (int k = 1; k < g->nz - 1; ++k)
        for (int j = 1; j < g->ny - 1; ++j)
            for (int i = 1; i < g->nx - 1; ++i) {
                const float x = (w[AT(i, j + 1, k)] - w[AT(i, j - 1, k)]) * half -
                                (v[AT(i, j, k + 1)] - v[AT(i, j, k - 1)]) * half;
                const float y = (u[AT(i, j, k + 1)] - u[AT(i, j, k - 1)]) * half -
                                (w[AT(i + 1, j, k)] - w[AT(i - 1, j, k)]) * half;
                const float z = (v[AT(i + 1, j, k)] - v[AT(i - 1, j, k)]) * half -
                                (u[AT(i, j + 1, k)] - u[AT(i, j - 1, k)]) * half;
                const size_t n = AT(i, j, k);
                omega[n] = x;
                omega[cells + n] = y;
                omega[2 * cells + n] = z;
                size[n] = sqrtf(x * x + y * y + z * z);
            }
    for (int k = 2; k < g->nz - 2; ++k)
        for (int j = 2; j < g->ny - 2; ++j)
            for (int i = 2; i < g->nx - 2; ++i) {
                const size_t n = AT(i, j, k);
                float gx = (size[AT(i + 1, j, k)] - size[AT(i - 1, j, k)]) * half;
                float gy = (size[AT(i, j + 1, k)] - size[AT(i, j - 1, k)]) * half;
                float gz = (size[AT(i, j, k + 1)] - size[AT(i, j, k - 1)]) * half;
                const float length = sqrtf(gx * gx + gy * gy + gz * gz);
                if (length == 0.0f)
                    continue;
                gx /= length;
                gy /= length;
                gz /= length;
                const float x = omega[n], y = omega[cells + n], z = omega[2 * cells + n];
                out[n] += dt * epsilon * g->h * (gy * z - gz * y);
                out[cells + n] += dt * epsilon * g->h * (gz * x - gx * z);
                out[2 * cells + n] += dt * epsilon * g->h * (gx * y - gy * x);
            }
}
