// Packed motion as float32 rows and back, one instance at a time. Once per instruction set.
#include "support/kernel_table.h"

#include "sway/codes.h"
#include "sway/specimen.h"

// One instance of the arrays of wg_packed.
static wg_packed instance_of(const wg_packed* packed, const wgi_specimen* tree, size_t n)
{
    const size_t row = WGI_CODE_BYTES * (size_t)tree->padded;
    const size_t inner = WGI_CODE_BYTES * (size_t)wgi_padded(tree->inner_count);
    return (wg_packed){ packed->swing + 2 * row * n, packed->change + 2 * inner * n,
                        packed->rate + 3 * row * n };
}

// Where the code of one inner branch's change lies, NULL for a branch that carries none.
static uint8_t*
change_at(const wg_packed* packed, const wgi_specimen* tree, size_t component, size_t branch)
{
    const int32_t rank = tree->inner_rank[branch];
    const size_t inner = (size_t)wgi_padded(tree->inner_count);
    return rank < 0 ? NULL : packed->change + WGI_CODE_BYTES * (component * inner + (size_t)rank);
}

// Changes of eight branches, 0 for those that carry none.
static wgf8
load_changes(const wg_packed* packed, const wgi_specimen* tree, size_t component, size_t begin)
{
    uint8_t codes[WGI_CODES_BYTES] = { 0 };
    for (size_t lane = 0; lane < WGI_LANES; ++lane) {
        const uint8_t* from = change_at(packed, tree, component, begin + lane);
        if (from)
            memcpy(codes + WGI_CODE_BYTES * lane, from, WGI_CODE_BYTES);
    }
    return wgi_float_value(wgi_load_codes(codes));
}

static void store_changes(
    const wg_packed* packed, const wgi_specimen* tree, size_t component, size_t begin, wgf8 change)
{
    uint8_t codes[WGI_CODES_BYTES];
    wgi_store_codes(codes, wgi_float_code(change));
    for (size_t lane = 0; lane < WGI_LANES; ++lane) {
        uint8_t* to = change_at(packed, tree, component, begin + lane);
        if (to)
            memcpy(to, codes + WGI_CODE_BYTES * lane, WGI_CODE_BYTES);
    }
}

static wgi8 inner_lanes(const wgi_specimen* tree, size_t begin)
{
    wgi8 rank;
    memcpy(&rank, tree->inner_rank + begin, sizeof rank);
    return rank >= wgi8_set(0);
}

void WGI_ISA(unpack_motion)(
    const wgi_specimen* tree, const wg_packed* packed, size_t instance, const wgi_motion_rows* rows)
{
    const wg_packed from = instance_of(packed, tree, instance);
    const size_t padded = (size_t)tree->padded;
    const float* first = tree->rest + WGI_REST_FIRST * padded;
    const float* second = tree->rest + WGI_REST_SECOND * padded;
    for (size_t i = 0; i < padded; i += WGI_LANES) {
        wgf8 swing[2], before[2];
        const wgi8 inner = inner_lanes(tree, i);
        for (size_t k = 0; k < 2; ++k) {
            const uint8_t* codes = from.swing + WGI_CODE_BYTES * (k * padded + i);
            swing[k] = wgi_swing_value(wgi_load_codes(codes));
            const wgf8 earlier = swing[k] - load_changes(&from, tree, k, i);
            before[k] = wgf8_select(inner, earlier, wgf8_set(0.0f));
        }
        for (size_t c = 0; c < 3; ++c) {
            const size_t at = c * padded + i;
            const wgf8 u = wgf8_load(first + at), v = wgf8_load(second + at);
            wgf8_store(rows->rotation + at, swing[0] * u + swing[1] * v);
            wgf8_store(rows->previous + at, before[0] * u + before[1] * v);
            const wgi8 rate = wgi_load_codes(from.rate + WGI_CODE_BYTES * at);
            wgf8_store(rows->angular_velocity + at, wgi_float_value(rate));
        }
    }
}

void WGI_ISA(pack_motion)(
    const wgi_specimen* tree, const wg_packed* packed, size_t instance, const wgi_motion_rows* rows)
{
    const wg_packed to = instance_of(packed, tree, instance);
    const size_t padded = (size_t)tree->padded;
    for (size_t i = 0; i < padded; i += WGI_LANES) {
        for (size_t k = 0; k < 2; ++k) {
            const float* basis = tree->rest + (k ? WGI_REST_SECOND : WGI_REST_FIRST) * padded;
            wgf8 now = wgf8_set(0.0f), change = wgf8_set(0.0f);
            for (size_t at = i; at < 3 * padded; at += padded) {
                const wgf8 theta = wgf8_load(rows->rotation + at), across = wgf8_load(basis + at);
                now += theta * across;
                change += (theta - wgf8_load(rows->previous + at)) * across;
            }
            wgi_store_codes(to.swing + WGI_CODE_BYTES * (k * padded + i), wgi_swing_code(now));
            store_changes(&to, tree, k, i, change);
        }
        for (size_t at = i; at < 3 * padded; at += padded)
            wgi_store_codes(
                to.rate + WGI_CODE_BYTES * at,
                wgi_float_code(wgf8_load(rows->angular_velocity + at)));
    }
}
