// Strips: eight neighbouring cells of a row, advected together.
//
// Where all eight places lie in the same cell offset, the values of a strip are contiguous loads.
// Along an axis on which the eight also move the same way the far values are one load; on a mixed
// axis both sides are loaded and chosen from lane by lane.
#pragma once

#include "support/simd.h"
#include "wind/advect_trace.h"

// How the eight cells of a strip move along an axis: which of their neighbours is the far cell. The
// last is for code that is too large to be compiled for each direction.
enum { FORWARD = 0, BACKWARD = 1, MIXED = 2, ONE_WAY = 3 };

// Eight displacements that share their near cell's offset.
typedef struct strip {
    wgf8 step[3]; // in cells; its sign says which neighbour is the far cell
    wgf8 fraction[3];
    wgi8 back[3];     // masks: the far cell is the neighbour before, not the one after
    ptrdiff_t near;   // offset of the near cells from their own
    ptrdiff_t far[3]; // offset of the far cells from the near ones where an axis is ONE_WAY
    ptrdiff_t stride[3];
    ptrdiff_t apart; // of HALVES: from the first of four cells to the first of the other four
} strip;

// The ways of the three axes, known where code is compiled: 2 bits each. HALVES: four neighbouring
// cells and four others.
#define WAYS(x, y, z) ((x) | (y) << 2 | (z) << 4)
#define HALVES 64
#define WAY(ways, axis) ((ways) >> 2 * (axis)&3)

WGI_INLINE wgf8 lerp(wgf8 a, wgf8 b, wgf8 t)
{
    return a + t * (b - a);
}

WGI_INLINE wgf8 load_lanes(const float* p, const strip* s, int ways)
{
    if (!(ways & HALVES))
        return wgf8_load(p);
    const float* other = p + s->apart;
#if defined(__AVX2__)
    return (wgf8)_mm256_insertf128_ps(
        _mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(other), 1);
#else
    wgf8 v;
    memcpy(&v, p, 16);
    memcpy((char*)&v + 16, other, 16);
    return v;
#endif
}

WGI_INLINE void store_lanes(float* p, wgf8 v, const strip* s, int ways)
{
    if (!(ways & HALVES)) {
        wgf8_store(p, v);
        return;
    }
#if defined(__AVX2__)
    _mm_storeu_ps(p, _mm256_castps256_ps128((__m256)v));
    _mm_storeu_ps(p + s->apart, _mm256_extractf128_ps((__m256)v, 1));
#else
    memcpy(p, &v, 16);
    memcpy(p + s->apart, (char*)&v + 16, 16);
#endif
}

// The same where a lane is read twice: these loops wait for loads.
WGI_INLINE wgf8 load_once(const float* p, const strip* s, int ways)
{
    wgf8 v = load_lanes(p, s, ways);
#if defined(__AVX512VL__)
    __asm__("" : "+v"(v));
#elif defined(__AVX2__)
    __asm__("" : "+x"(v));
#endif
    return v;
}

// Lanes of `a` where the mask is all ones, else of `b`: as many operations as a variable blend has
// within, and the loads are part of them.
WGI_INLINE wgf8 choose(wgi8 mask, wgf8 a, wgf8 b)
{
#if defined(__AVX512VL__)
    return wgf8_select(mask, a, b);
#else
    return wgf8_from_bits((wgf8_bits(a) & mask) | (wgf8_bits(b) & ~mask));
#endif
}

// Keeps the compiler from working out every address of a strip by itself, which takes more registers
// than there are.
#define OPAQUE(value) __asm__("" : "+r"(value))

// The rows around eight near cells: offsets of the rows at y - 1 and y + 1 (where y is ONE_WAY, of the
// far row twice), and the near cells in the slabs at z, z - 1 and z + 1 (the far slab twice).
typedef struct places {
    ptrdiff_t row[2];
    const float* slab[3];
} places;

WGI_INLINE places places_of(const float* near, const strip* s, int ways)
{
    const bool far_row = WAY(ways, 1) == ONE_WAY, far_slab = WAY(ways, 2) == ONE_WAY;
    const ptrdiff_t y = s->stride[1], z = s->stride[2];
    places p = { .row = { far_row ? s->far[1] : -y, far_row ? s->far[1] : y },
                 .slab = { near, near + (far_slab ? s->far[2] : -z),
                           near + (far_slab ? s->far[2] : z) } };
    for (int n = 0; n < 2; ++n)
        OPAQUE(p.row[n]);
    for (int n = 0; n < 3; ++n)
        OPAQUE(p.slab[n]);
    return p;
}

// The values of eight lanes at a corner of their octants: `far` says along which axes (1, 2, 4) it is
// the far one.
WGI_INLINE wgf8 corner_in_row(const float* near, const strip* s, int ways, int far)
{
    if (!(far & 1))
        return load_once(near, s, ways);
    if (WAY(ways, 0) == MIXED)
        return choose(s->back[0], load_lanes(near - 1, s, ways), load_lanes(near + 1, s, ways));
    return load_lanes(WAY(ways, 0) == FORWARD ? near + 1 : near - 1, s, ways);
}

WGI_INLINE wgf8
corner_in_slab(const float* near, const places* p, const strip* s, int ways, int far)
{
    if (!(far & 2))
        return corner_in_row(near, s, ways, far);
    const wgf8 before = corner_in_row(near + p->row[0], s, ways, far);
    if (WAY(ways, 1) == ONE_WAY)
        return before;
    return choose(s->back[1], before, corner_in_row(near + p->row[1], s, ways, far));
}

WGI_INLINE wgf8 corner_of(const places* p, const strip* s, int ways, int far)
{
    if (!(far & 4))
        return corner_in_slab(p->slab[0], p, s, ways, far);
    const wgf8 before = corner_in_slab(p->slab[1], p, s, ways, far);
    if (WAY(ways, 2) == ONE_WAY)
        return before;
    return choose(s->back[2], before, corner_in_slab(p->slab[2], p, s, ways, far));
}

// The value of eight lanes: along x, then in the plane of x and y, then in space. `near` is the first
// lane's near cell.
WGI_INLINE wgf8 strip_value(const float* near, const strip* s, int ways)
{
    const places p = places_of(near, s, ways);
#define IN_ROW(far)                                                                                \
    lerp(corner_of(&p, s, ways, far), corner_of(&p, s, ways, (far) + 1), s->fraction[0])
    const wgf8 own = lerp(IN_ROW(0), IN_ROW(2), s->fraction[1]);
    const wgf8 other = lerp(IN_ROW(4), IN_ROW(6), s->fraction[1]);
#undef IN_ROW
    return lerp(own, other, s->fraction[2]);
}

WGI_INLINE strip strip_of(const wgi_advect_job* job, ptrdiff_t at, ptrdiff_t apart, int ways)
{
    strip s = { .near = 0, .stride = { 1, job->nx, job->slab }, .apart = apart };
    const wgf8 scale = wgf8_set(-job->cells_per_velocity);
    const float* velocity = job->velocity + at;
    for (int axis = 0; axis < 3; ++axis, velocity += job->cells) {
        s.step[axis] = load_lanes(velocity, &s, ways) * scale;
        s.fraction[axis] = wgf8_abs(s.step[axis]);
        s.back[axis] = wgf8_bits(s.step[axis]) >> 31;
    }
    return s;
}

WGI_INLINE strip strip_at(const wgi_advect_job* job, ptrdiff_t at)
{
    return strip_of(job, at, 0, 0);
}

// Sets the far offset of the axes on which all lanes that count move the way of one of them.
WGI_INLINE void set_far(const wgi_advect_job* job, ptrdiff_t at, unsigned lane, strip* s)
{
    for (int axis = 1; axis < 3; ++axis) {
        int32_t bits;
        memcpy(&bits, job->velocity + axis * job->cells + at + lane, sizeof bits);
        s->far[axis] = bits < 0 ? s->stride[axis] : -s->stride[axis];
    }
}

WGI_INLINE bool is_long(const strip* s)
{
    const wgi8 longest = wgi8_max(
        wgi8_max(wgf8_bits(s->fraction[0]), wgf8_bits(s->fraction[1])), wgf8_bits(s->fraction[2]));
    // As integers NaN is larger than any number.
    return wgi8_any(longest >= wgf8_bits(wgf8_set(WGI_SHORT_TRACE)));
}
