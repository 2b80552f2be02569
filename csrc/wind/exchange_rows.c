// Coarse from fine: eight coarse cells of a row at a time, from four rows of sixteen fine ones.
//
// Without a branch for each cell: where houses begin and end cannot be foreseen. Eight cells that are
// open, or solid, are.
#include "support/kernel_table.h"
#include "support/simd.h"

// Coarse cells of a row and the fine cells below: the first of each row of four.
typedef struct coarse_row {
    size_t to, from[4];
} coarse_row;

// Sums over pairs of neighbours, in pairs: eight equal values give their mean exactly.
WGI_INLINE wgf8 pair_sums(wgf8 a, wgf8 b)
{
    return wgf8_shuffle(a, b, 0, 2, 4, 6, 8, 10, 12, 14) +
           wgf8_shuffle(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
}

WGI_INLINE wgi8 solid_lanes(const uint8_t* solid)
{
    return wgi8_load_bytes(solid) != wgi8_set(0);
}

WGI_INLINE wgf8 load_air(const float* v, const uint8_t* solid)
{
    const wgf8 value = wgf8_load(v);
    return solid ? wgf8_from_bits(wgf8_bits(value) & ~solid_lanes(solid)) : value;
}

WGI_INLINE wgf8 pairs_of(const float* v, const uint8_t* solid)
{
    return solid ? pair_sums(load_air(v, solid), load_air(v + 8, solid + 8))
                 : pair_sums(wgf8_load(v), wgf8_load(v + 8));
}

// Sums over the fine cells that are air; `n` is the place along the fine row.
WGI_INLINE wgf8 eight_sums(const float* v, const uint8_t* solid, const coarse_row* r, size_t n)
{
    const size_t* f = r->from;
#define ROW(line) pairs_of(v + f[line] + n, solid ? solid + f[line] + n : NULL)
    return (ROW(0) + ROW(1)) + (ROW(2) + ROW(3));
#undef ROW
}

// How many fine cells are air, and 0 where the coarse cell is solid itself.
WGI_INLINE wgf8 air_counts(const wgi_restrict_job* job, const coarse_row* r, size_t n)
{
    wgi8 marks[2] = { wgi8_set(0), wgi8_set(0) };
    for (int line = 0; job->fine_solid && line < 4; ++line)
        for (int half = 0; half < 2; ++half)
            marks[half] -= solid_lanes(job->fine_solid + r->from[line] + 2 * n + 8 * half);
    const wgf8 solids = pair_sums(wgf8_from_int(marks[0]), wgf8_from_int(marks[1]));
    wgf8 air = wgf8_set(8.0f) - solids;
    if (job->coarse_solid)
        air = wgf8_select(solid_lanes(job->coarse_solid + r->to + n), wgf8_set(0.0f), air);
    return air;
}

WGI_INLINE void
restrict_eight(const wgi_restrict_job* job, const coarse_row* r, size_t n, const bool open)
{
    const wgf8 air = open ? wgf8_set(8.0f) : air_counts(job, r, n);
    const wgi8 keep = (wgi8)(air == wgf8_set(0.0f));
    for (size_t c = 0; c < 3; ++c) {
        const float* v = job->fine + c * job->fine_cells;
        float* out = job->coarse + c * job->coarse_cells + r->to + n;
        if (open) {
            wgf8_store(out, wgf8_set(0.125f) * eight_sums(v, NULL, r, 2 * n));
        } else {
            const wgf8 mean = eight_sums(v, job->fine_solid, r, 2 * n) / air;
            wgf8_store(out, wgf8_select(keep, wgf8_load(out), mean));
        }
    }
}

// The same for one coarse cell, in rows shorter than a vector.
static void restrict_one(const wgi_restrict_job* job, const coarse_row* r, size_t n)
{
    float air = 0.0f;
    for (int m = 0; m < 8; ++m)
        air += !job->fine_solid || !job->fine_solid[r->from[m / 2] + 2 * n + (size_t)(m % 2)];
    if (air == 0.0f || (job->coarse_solid && job->coarse_solid[r->to + n]))
        return;
    for (size_t c = 0; c < 3; ++c) {
        float v[8];
        for (int m = 0; m < 8; ++m) {
            const size_t at = r->from[m / 2] + 2 * n + (size_t)(m % 2);
            v[m] =
                job->fine_solid && job->fine_solid[at] ? 0.0f : job->fine[c * job->fine_cells + at];
        }
        const float low = (v[0] + v[1]) + (v[2] + v[3]), high = (v[4] + v[5]) + (v[6] + v[7]);
        job->coarse[c * job->coarse_cells + r->to + n] = (low + high) / air;
    }
}

WGI_INLINE uint64_t eight_marks(const uint8_t* marks)
{
    uint64_t eight;
    memcpy(&eight, marks, sizeof eight);
    return eight;
}

// Whether no mark is set in eight coarse cells and the fine ones below.
WGI_INLINE bool is_open(const wgi_restrict_job* job, const coarse_row* r, size_t n)
{
    uint64_t marks = job->coarse_solid ? eight_marks(job->coarse_solid + r->to + n) : 0;
    for (int line = 0; job->fine_solid && line < 4; ++line) {
        const uint8_t* fine = job->fine_solid + r->from[line] + 2 * n;
        marks |= eight_marks(fine) | eight_marks(fine + 8);
    }
    return marks == 0;
}

// Whether eight coarse cells keep what they have.
WGI_INLINE bool is_solid(const wgi_restrict_job* job, const coarse_row* r, size_t n)
{
    return job->coarse_solid && eight_marks(job->coarse_solid + r->to + n) == 0x0101010101010101u;
}

WGI_INLINE void
restrict_row(const wgi_restrict_job* job, const coarse_row* r, size_t count, const bool marked)
{
    for (size_t next = 0; next < count && count >= 8; next += 8) {
        // The last eight of a row repeat a few cells.
        const size_t n = next + 8 <= count ? next : count - 8;
        if (!marked || is_open(job, r, n))
            restrict_eight(job, r, n, true);
        else if (!is_solid(job, r, n))
            restrict_eight(job, r, n, false);
    }
    for (size_t n = 0; n < count && count < 8; ++n)
        restrict_one(job, r, n);
}

void WGI_ISA(restrict_slabs)(const wgi_restrict_job* job, int32_t begin, int32_t end)
{
    const size_t up = (size_t)job->nx, over = up * (size_t)job->ny;
    const size_t row = (size_t)job->coarse_nx, plane = row * (size_t)job->coarse_ny;
    for (size_t k = (size_t)begin; k < (size_t)end; ++k)
        for (size_t j = 0; j < ((size_t)job->ny - 2) / 2; ++j) {
            const size_t from = (2 * k + 1) * over + (2 * j + 1) * up + 1;
            const coarse_row r = { ((size_t)job->first[2] + k) * plane +
                                       ((size_t)job->first[1] + j) * row + (size_t)job->first[0],
                                   { from, from + up, from + over, from + over + up } };
            if (job->fine_solid || job->coarse_solid)
                restrict_row(job, &r, ((size_t)job->nx - 2) / 2, true);
            else
                restrict_row(job, &r, ((size_t)job->nx - 2) / 2, false);
        }
}
