// A pipeline over tiles of slabs. Towards its neighbours a tile shrinks by one slab a stage; the gaps,
// which grow from the seams at the same rate, are filled when all tiles are done. A stage in place
// is then never ahead of what a neighbour still has to read.
#include "wind/project_pipeline.h"

#include "support/parallel.h"

typedef struct pipeline {
    wgi_stage_function* stage;
    const void* context;
    int32_t slabs, stages;
    int32_t tile, tiles; // slabs of a tile but the last, number of tiles
} pipeline;

static void shrinking_tiles(size_t begin, size_t end, void* context)
{
    const pipeline* p = context;
    for (int32_t n = (int32_t)begin; n < (int32_t)end; ++n) {
        const bool first = n == 0, last = n == p->tiles - 1;
        const int32_t low = 1 + n * p->tile, high = last ? p->slabs : low + p->tile - 1;
        for (int32_t front = low; front < high + p->stages; ++front)
            for (int32_t s = 0; s < p->stages; ++s) {
                const int32_t j = front - s;
                if (j >= low + (first ? 0 : s) && j <= high - (last ? 0 : s))
                    p->stage(p->context, s, j);
            }
    }
}

static void growing_gaps(size_t begin, size_t end, void* context)
{
    const pipeline* p = context;
    for (int32_t n = (int32_t)begin + 1; n <= (int32_t)end; ++n) {
        const int32_t seam = 1 + n * p->tile;
        for (int32_t s = 1; s < p->stages; ++s)
            for (int32_t j = seam - s; j < seam + s; ++j)
                p->stage(p->context, s, j);
    }
}

void wgi_pipeline(
    const wg_exec* exec, int32_t slabs, int32_t stages, wgi_stage_function* stage,
    const void* context)
{
    pipeline p = { stage, context, slabs, stages, slabs, 1 };
    const int32_t threads = exec ? exec->threads : 1;
    // Tiles of an even number of slabs, long enough that their gaps do not meet.
    const int32_t shortest = stages < 4 ? 8 : 2 * stages;
    const int32_t most = slabs / shortest < 2 * threads ? slabs / shortest : 2 * threads;
    if (threads > 1 && slabs >= 32 && most > 1) {
        p.tile = slabs / most / 2 * 2;
        p.tiles = slabs / p.tile;
    }
    wgi_parallel_for(exec, (size_t)p.tiles, 1, shrinking_tiles, &p);
    wgi_parallel_for(exec, (size_t)p.tiles - 1, 1, growing_gaps, &p);
}
