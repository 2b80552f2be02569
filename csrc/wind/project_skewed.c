// Jacobi sweeps in one array.
//
// A sweep can overwrite its own array one slab further on: the slab at j becomes the old one's
// neighbour at j + 1, of which no other slab needs more than what is read just before. A pass of
// several sweeps moves the field that many slabs up, the next one down again. Half the memory of two
// arrays in turn is met, so that a pass stays in the first cache; there must be room above the field.
//
// Several threads take a band of slabs each. A band has a copy of the slabs beside it, of which each
// sweep leaves one less that is right, and gets new ones after some sweeps: what is swept twice gives
// the same bits twice.
#include <string.h>

#include "support/parallel.h"
#include "wind/project_solvers.h"

enum { SKEWED_BYTES = 24576, MOST_SWEEPS = 10 };

typedef struct skewed_pass {
    const wgi_projection* projection;
    float* base;       // of the field before the pass
    int32_t sweeps;    // of the pass
    int32_t way;       // +1: up, slabs from the last to the first; -1: down
    int32_t low, high; // slabs wanted in the end
    int32_t after;     // how many more on either side the last sweep of the pass has to reach
} skewed_pass;

static int32_t low_of(const skewed_pass* pass, int32_t s)
{
    const int32_t low = pass->low - (pass->sweeps - 1 - s) - pass->after;
    return low < 1 ? 1 : low;
}

static int32_t high_of(const skewed_pass* pass, int32_t s)
{
    const int32_t ny = pass->projection->grid.ny;
    const int32_t high = pass->high + (pass->sweeps - 1 - s) + pass->after;
    return high > ny ? ny : high;
}

// Sweep s of one slab; beyond the last one of the way it leaves the border's zeros behind.
static void skewed_slab(const skewed_pass* pass, int32_t s, int32_t j)
{
    const wgi_project_grid* g = &pass->projection->grid;
    const ptrdiff_t step = pass->way * (ptrdiff_t)g->slab;
    const int32_t low = low_of(pass, s), high = high_of(pass, s);
    float *from = pass->base + s * step, *to = from + step;
    const bool border = pass->way > 0 ? low == 1 && j == 0 : high == g->ny && j == g->ny + 1;
    if (j >= low && j <= high)
        wgi_kernels()->project_jacobi_sweep(pass->projection, from, to, j, j + 1);
    else if (border)
        memset(to + (size_t)j * g->slab, 0, g->slab * sizeof(float));
}

static float* run_skewed(const skewed_pass* pass)
{
    const int32_t low = low_of(pass, 0), high = high_of(pass, 0);
    for (int32_t front = 0; front <= high - low + pass->sweeps; ++front)
        for (int32_t s = 0; s < pass->sweeps && s <= front; ++s) {
            const int32_t n = front - s;
            skewed_slab(pass, s, pass->way > 0 ? high - n : low + n);
        }
    return pass->base + pass->way * pass->sweeps * (ptrdiff_t)pass->projection->grid.slab;
}

int32_t wgi_skewed_sweeps(const wgi_project_grid* g)
{
    const int32_t slabs = (int32_t)(SKEWED_BYTES / (g->slab * sizeof(float)));
    const int32_t most = g->ny < MOST_SWEEPS ? g->ny : MOST_SWEEPS;
    const int32_t fit = slabs / 2 - 1;
    return fit < 2 ? 0 : fit < most ? fit : most;
}

void wgi_project_sweep_skewed(wgi_project_call* call, int32_t count)
{
    wgi_projection* p = &call->projection;
    const int32_t most = wgi_skewed_sweeps(&p->grid);
    // `other` follows `phi` in the scratch: its first slabs are the room above the field.
    const size_t slab = p->grid.slab, top = (size_t)(p->grid.ny + 1) * slab;
    memset(p->phi + top, 0, ((size_t)(most + 1) * slab + p->grid.pitch + 8) * sizeof(float));
    skewed_pass pass = { p, p->phi, 0, 1, 1, p->grid.ny, 0 };
    for (; count > 0; count -= pass.sweeps, pass.way = -pass.way) {
        pass.sweeps = count < most ? count : most;
        pass.base = run_skewed(&pass);
    }
    p->phi = pass.base;
}

// ---- bands ---------------------------------------------------------------------------------

// Sweeps of a pass, and between two exchanges: up and down again. The last sweep leaves one slab
// beside the band, which the gradient reads.
enum { PASS = 2, GROUP = 2 * PASS, BESIDE = GROUP + 1, FEWEST_SLABS = 2 * BESIDE + 2 };

// Bands lie at their own slabs in the one or the other array in turn, so that there is room beside
// each of them.
void wgi_project_choose_bands(wgi_project_call* call)
{
    wgi_projection* p = &call->projection;
    const int32_t ny = p->grid.ny, threads = call->exec ? call->exec->threads : 1;
    const int32_t most = ny / FEWEST_SLABS < WGI_MOST_BANDS ? ny / FEWEST_SLABS : WGI_MOST_BANDS;
    const int32_t count = threads < most ? threads : most;
    call->bands = count < 2 || wgi_skewed_sweeps(&p->grid) < PASS ? 0 : count;
    for (int32_t n = 0; n < call->bands; ++n)
        call->band[n] = (wgi_band){ 1 + ny * n / count, 1 + ny * (n + 1) / count,
                                    n % 2 == 0 ? p->phi : p->other };
}

typedef struct band_job {
    wgi_project_call* call;
    int32_t sweeps;   // of a group
    int32_t at_edges; // slabs beside a band that are wanted after them
    bool first;
} band_job;

// The zeros of one slab between its rows, and those beside them.
static void clear_gaps(const wgi_project_grid* g, float* slab)
{
    memset(slab, 0, (g->pitch + 8) * sizeof(float));
    for (int32_t k = 2; k <= g->nz; ++k)
        memset(slab + (size_t)k * g->pitch, 0, 8 * sizeof(float));
}

static void clear_beside(const wgi_project_grid* g, const wgi_band* band)
{
    for (int32_t j = band->begin - BESIDE; j <= band->end + BESIDE; ++j)
        if ((j >= 0 && j < band->begin) || (j >= band->end && j <= g->ny + 1))
            clear_gaps(g, band->phi + (size_t)j * g->slab);
}

static void copy_slabs(
    const wgi_project_grid* g, const wgi_band* from, const wgi_band* to, int32_t begin, int32_t end)
{
    const size_t at = (size_t)begin * g->slab, count = (size_t)(end - begin) * g->slab;
    memcpy(to->phi + at, from->phi + at, count * sizeof(float));
}

static void exchange_bands(size_t begin, size_t end, void* context)
{
    const band_job* job = context;
    const wgi_project_grid* g = &job->call->projection.grid;
    const int32_t beside = job->sweeps + job->at_edges;
    for (size_t n = begin; n < end; ++n) {
        const wgi_band* band = &job->call->band[n];
        if (job->first)
            clear_beside(g, band);
        if (n > 0)
            copy_slabs(g, band - 1, band, band->begin - beside, band->begin);
        if ((int32_t)n + 1 < job->call->bands)
            copy_slabs(g, band + 1, band, band->end, band->end + beside);
    }
}

// The last band has no room above it, the first none below.
static void sweep_some(size_t begin, size_t end, void* context)
{
    const band_job* job = context;
    for (size_t n = begin; n < end; ++n) {
        wgi_band* band = &job->call->band[n];
        skewed_pass pass = { .projection = &job->call->projection,
                             .base = band->phi,
                             .way = (int32_t)n + 1 < job->call->bands ? 1 : -1,
                             .low = band->begin,
                             .high = band->end - 1 };
        for (int32_t left = job->sweeps; left > 0; left -= pass.sweeps, pass.way = -pass.way) {
            pass.sweeps = left < PASS ? left : PASS;
            pass.after = left - pass.sweeps + job->at_edges;
            pass.base = run_skewed(&pass);
        }
        band->phi = pass.base;
    }
}

void wgi_project_sweep_bands(wgi_project_call* call, int32_t count)
{
    const size_t bands = (size_t)call->bands;
    band_job job = { .call = call, .first = true };
    do {
        job.sweeps = count < GROUP ? count : GROUP;
        job.at_edges = job.sweeps == count;
        wgi_parallel_for(call->exec, bands, 1, exchange_bands, &job);
        wgi_parallel_for(call->exec, bands, 1, sweep_some, &job);
        count -= job.sweeps;
        job.first = false;
    } while (count > 0);
}
