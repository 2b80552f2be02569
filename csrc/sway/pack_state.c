// Packed motion as float32 rows and back, one instance at a time.
#include <string.h>

#include "sway/forest_job.h"
#include "sway/half.h"

void wgi_unpack(
    const wgi_specimen* tree, const float* swing, const float* swing_before, const uint16_t* half,
    float* rotation, float* previous, float* omega)
{
    const size_t padded = (size_t)tree->padded, inner = (size_t)wgi_padded(tree->inner_count);
    const float* first = tree->rest + WGI_REST_FIRST * padded;
    const float* second = tree->rest + WGI_REST_SECOND * padded;
    for (size_t i = 0; i < padded; ++i) {
        const int32_t rank = tree->inner_rank[i];
        const float s = rank < 0 ? 0.0f : swing_before[rank];
        const float t = rank < 0 ? 0.0f : swing_before[inner + (size_t)rank];
        for (size_t c = 0; c < 3; ++c) {
            const size_t at = c * padded + i;
            rotation[at] = swing[i] * first[at] + swing[padded + i] * second[at];
            previous[at] = s * first[at] + t * second[at];
            omega[at] = wgi_float_from_half(half[at]);
        }
    }
}

static void pack(
    const wgi_specimen* tree, const float* rotation, const float* previous, const float* omega,
    float* swing, float* swing_before, uint16_t* half)
{
    const size_t padded = (size_t)tree->padded, inner = (size_t)wgi_padded(tree->inner_count);
    const float* basis[2] = { tree->rest + WGI_REST_FIRST * padded,
                              tree->rest + WGI_REST_SECOND * padded };
    for (size_t i = 0; i < padded; ++i) {
        const int32_t rank = tree->inner_rank[i];
        for (size_t k = 0; k < 2; ++k) {
            float now = 0.0f, before = 0.0f;
            for (size_t c = 0; c < 3; ++c) {
                now += rotation[c * padded + i] * basis[k][c * padded + i];
                before += previous[c * padded + i] * basis[k][c * padded + i];
            }
            swing[k * padded + i] = now;
            if (rank >= 0)
                swing_before[k * inner + (size_t)rank] = before;
        }
        for (size_t c = 0; c < 3; ++c)
            half[c * padded + i] = wgi_half_from_float(omega[c * padded + i]);
    }
}

int32_t wg_specimen_inner_count(const void* specimen)
{
    return wgi_specimen_open(specimen).inner_count;
}

void wg_forest_unpack(
    const wg_forest* forest, float* rotation, float* previous, float* angular_velocity)
{
    const wgi_specimen tree = wgi_specimen_open(forest->specimen);
    const size_t padded = (size_t)tree.padded, inner = (size_t)wgi_padded(tree.inner_count);
    const wg_packed* packed = forest->packed;
    for (size_t n = 0; n < (size_t)forest->instance_count; ++n)
        wgi_unpack(
            &tree, packed->swing + 2 * padded * n, packed->previous + 2 * inner * n,
            packed->angular_velocity + 3 * padded * n, rotation + 3 * padded * n,
            previous + 3 * padded * n, angular_velocity + 3 * padded * n);
}

void wg_forest_pack(
    const wg_forest* forest, const float* rotation, const float* previous,
    const float* angular_velocity)
{
    const wgi_specimen tree = wgi_specimen_open(forest->specimen);
    const size_t padded = (size_t)tree.padded, inner = (size_t)wgi_padded(tree.inner_count);
    const wg_packed* packed = forest->packed;
    for (size_t n = 0; n < (size_t)forest->instance_count; ++n)
        pack(
            &tree, rotation + 3 * padded * n, previous + 3 * padded * n,
            angular_velocity + 3 * padded * n, packed->swing + 2 * padded * n,
            packed->previous + 2 * inner * n, packed->angular_velocity + 3 * padded * n);
}
