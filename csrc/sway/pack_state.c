// Packed motion as float32 rows and back, one instance at a time. Once per instruction set.
#include "support/kernel_table.h"

#include "sway/codes.h"
#include "sway/specimen.h"

// One instance of the arrays of wg_packed.
static wg_packed instance_of(const wg_packed* packed, const wgi_specimen* tree, size_t n)
{
    const size_t padded = (size_t)tree->padded, inner = (size_t)wgi_padded(tree->inner_count);
    return (wg_packed){ packed->high + 2 * padded * n, packed->low + 2 * padded * n,
                        packed->high_before + 2 * inner * n, packed->low_before + 2 * inner * n,
                        packed->rate + 4 * padded * n };
}

void WGI_ISA(unpack_motion)(
    const wgi_specimen* tree, const wg_packed* packed, size_t instance, const wgi_motion_rows* rows)
{
    const wg_packed from = instance_of(packed, tree, instance);
    const size_t padded = (size_t)tree->padded, inner = (size_t)wgi_padded(tree->inner_count);
    const float* first = tree->rest + WGI_REST_FIRST * padded;
    const float* second = tree->rest + WGI_REST_SECOND * padded;
    for (size_t i = 0; i < padded; i += WGI_LANES) {
        wgf8 swing[2], before[2], omega[3];
        wgi_load_rates(from.rate + i, padded, omega);
        for (size_t k = 0; k < 2; ++k) {
            const size_t at = k * padded + i;
            swing[k] = wgi_swing_value(wgi_load_code24(from.high + at, from.low + at));
            wgi8 code = wgi8_set(0);
            for (size_t lane = 0; lane < WGI_LANES; ++lane) {
                const int32_t rank = tree->inner_rank[i + lane];
                const size_t b = k * inner + (size_t)(rank < 0 ? 0 : rank);
                code[lane] = rank < 0 ? 0 : from.high_before[b] * 256 + from.low_before[b];
            }
            before[k] = wgi_swing_value(code);
        }
        for (size_t c = 0; c < 3; ++c) {
            const size_t at = c * padded + i;
            const wgf8 u = wgf8_load(first + at), v = wgf8_load(second + at);
            wgf8_store(rows->rotation + at, swing[0] * u + swing[1] * v);
            wgf8_store(rows->previous + at, before[0] * u + before[1] * v);
            wgf8_store(rows->angular_velocity + at, omega[c]);
        }
    }
}

static wgf8 component(const float* vector, const float* basis, size_t padded, size_t i)
{
    wgf8 sum = wgf8_set(0.0f);
    for (size_t c = 0; c < 3; ++c)
        sum += wgf8_load(vector + c * padded + i) * wgf8_load(basis + c * padded + i);
    return sum;
}

void WGI_ISA(pack_motion)(
    const wgi_specimen* tree, const wg_packed* packed, size_t instance, const wgi_motion_rows* rows)
{
    const wg_packed to = instance_of(packed, tree, instance);
    const size_t padded = (size_t)tree->padded, inner = (size_t)wgi_padded(tree->inner_count);
    for (size_t i = 0; i < padded; i += WGI_LANES) {
        for (size_t k = 0; k < 2; ++k) {
            const float* basis = tree->rest + (k ? WGI_REST_SECOND : WGI_REST_FIRST) * padded;
            const size_t at = k * padded + i;
            const wgf8 now = component(rows->rotation, basis, padded, i);
            wgi_store_code24(to.high + at, to.low + at, wgi_swing_code(now));
            const wgi8 before = wgi_swing_code(component(rows->previous, basis, padded, i));
            for (size_t lane = 0; lane < WGI_LANES; ++lane) {
                const int32_t rank = tree->inner_rank[i + lane];
                if (rank < 0)
                    continue;
                to.high_before[k * inner + (size_t)rank] = (int16_t)(before[lane] >> 8);
                to.low_before[k * inner + (size_t)rank] = (uint8_t)(before[lane] & 0xff);
            }
        }
        const wgf8 omega[3] = { wgf8_load(rows->angular_velocity + i),
                                wgf8_load(rows->angular_velocity + padded + i),
                                wgf8_load(rows->angular_velocity + 2 * padded + i) };
        wgi_store_rates(to.rate + i, padded, omega);
    }
}
