#include "textbook_project.h"

#include <string.h>

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define LEVEL(name) JOIN(textbook_, TEXTBOOK_LEVEL, name)
#define AT(i, j, k) (((size_t)(k) * (size_t)g->ny + (size_t)(j)) * (size_t)g->nx + (size_t)(i))

static float face(const textbook_box* g, const float* u, size_t cell, size_t neighbour)
{
    return g->solid[neighbour] ? u[neighbour] : 0.5f * (u[cell] + u[neighbour]);
}

void LEVEL(_divergence)(const textbook_box* g, const float* velocity, float* divergence)
{
    const size_t cells = (size_t)g->nx * (size_t)g->ny * (size_t)g->nz;
    const size_t step[3] = { 1, (size_t)g->nx, (size_t)g->nx * (size_t)g->ny };
    for (int k = 1; k < g->nz - 1; ++k)
        for (int j = 1; j < g->ny - 1; ++j)
            for (int i = 1; i < g->nx - 1; ++i) {
                const size_t n = AT(i, j, k);
                float sum = 0.0f;
                for (int axis = 0; axis < 3; ++axis) {
                    const float* u = velocity + (size_t)axis * cells;
                    sum += face(g, u, n, n + step[axis]) - face(g, u, n, n - step[axis]);
                }
                divergence[n] = g->solid[n] ? 0.0f : sum / g->h;
            }
}

void LEVEL(_jacobi)(
    const textbook_box* g, const float* divergence, float* phi, float* other, int iterations)
{
    const size_t cells = (size_t)g->nx * (size_t)g->ny * (size_t)g->nz;
    const size_t step[3] = { 1, (size_t)g->nx, (size_t)g->nx * (size_t)g->ny };
    memset(phi, 0, cells * sizeof(float));
    memset(other, 0, cells * sizeof(float));
    for (int it = 0; it < iterations; ++it) {
        for (int k = 1; k < g->nz - 1; ++k)
            for (int j = 1; j < g->ny - 1; ++j)
                for (int i = 1; i < g->nx - 1; ++i) {
                    const size_t n = AT(i, j, k);
                    if (g->solid[n])
                        continue;
                    float sum = 0.0f;
                    int open = 0;
                    for (int axis = 0; axis < 3; ++axis) {
                        if (!g->solid[n - step[axis]]) {
                            sum += phi[n - step[axis]];
                            ++open;
                        }
                        if (!g->solid[n + step[axis]]) {
                            sum += phi[n + step[axis]];
                            ++open;
                        }
                    }
                    if (open > 0)
                        other[n] = (sum - g->h * g->h * divergence[n]) / (float)open;
                }
        float* swapped = phi;
        phi = other;
        other = swapped;
    }
}

void LEVEL(_subtract)(const textbook_box* g, const float* phi, const float* velocity, float* out)
{
    const size_t cells = (size_t)g->nx * (size_t)g->ny * (size_t)g->nz;
    const size_t step[3] = { 1, (size_t)g->nx, (size_t)g->nx * (size_t)g->ny };
    memcpy(out, velocity, 3 * cells * sizeof(float));
    for (int axis = 0; axis < 3; ++axis)
        for (int k = 1; k < g->nz - 1; ++k)
            for (int j = 1; j < g->ny - 1; ++j)
                for (int i = 1; i < g->nx - 1; ++i) {
                    const size_t n = AT(i, j, k), low = n - step[axis], high = n + step[axis];
                    if (g->solid[n])
                        continue;
                    const float left = g->solid[low] ? 0.0f : phi[n] - phi[low];
                    const float right = g->solid[high] ? 0.0f : phi[high] - phi[n];
                    out[(size_t)axis * cells + n] -= 0.5f * (left + right) / g->h;
                }
}
