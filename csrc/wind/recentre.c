// Recentring: the data stays where it is in the world while the grid moves by whole cells.
#include <stdlib.h>
#include <string.h>

#include "support/parallel.h"
#include "wind/grid.h"

typedef struct overlap {
    int32_t low[3],
        high[3]; // interior cells of the new place that were interior before: [low, high)
} overlap;

static overlap overlap_of(const wg_grid* grid, const int64_t shift[3])
{
    const int32_t size[3] = { grid->nx, grid->ny, grid->nz };
    overlap kept;
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t interior = size[axis] - 2;
        const int64_t low = shift[axis] < 0 ? -shift[axis] : 0;
        const int64_t high = shift[axis] > 0 ? interior - shift[axis] : interior;
        const bool any = low < interior && high > 0;
        kept.low[axis] = any ? (int32_t)low + 1 : 1;
        kept.high[axis] = any ? (int32_t)high + 1 : 1;
    }
    for (int axis = 0; axis < 3; ++axis)
        if (kept.high[axis] <= kept.low[axis])
            return (overlap){ { 1, 1, 1 }, { 1, 1, 1 } };
    return kept;
}

// Rows are visited in the order in which no row is overwritten before it is read.
static void
shift_array(const wg_grid* grid, float* values, const overlap* kept, const int64_t shift[3])
{
    const int64_t distance = (shift[2] * grid->ny + shift[1]) * (int64_t)grid->nx + shift[0];
    const int32_t rows_y = kept->high[1] - kept->low[1], rows_z = kept->high[2] - kept->low[2];
    const size_t bytes = (size_t)(kept->high[0] - kept->low[0]) * sizeof(float);
    const int32_t rows = rows_y * rows_z;
    for (int32_t n = 0; n < rows; ++n) {
        const int32_t row = distance >= 0 ? n : rows - 1 - n;
        float* to = values + wgi_grid_index(
                                 grid, kept->low[0], kept->low[1] + row % rows_y,
                                 kept->low[2] + row / rows_y);
        memmove(to, to + distance, bytes);
    }
}

typedef struct shift_job {
    const wg_grid* grid;
    const overlap* kept;
    const int64_t* shift;
} shift_job;

// The three components, then the pressure.
static void shift_arrays(size_t begin, size_t end, void* context)
{
    const shift_job* job = context;
    const wg_grid* grid = job->grid;
    for (size_t n = begin; n < end; ++n) {
        float* values = n < 3 ? grid->velocity + n * wgi_grid_cells(grid) : grid->pressure;
        shift_array(grid, values, job->kept, job->shift);
    }
}

typedef struct expose_job {
    const wg_grid *grid, *coarser;
    const wg_inflow* inflow;
    overlap kept;
} expose_job;

static void expose_row(const expose_job* job, int32_t i, int32_t j, int32_t k, int32_t count)
{
    if (count <= 0)
        return;
    if (job->coarser)
        wgi_coarser_line(job->grid, job->coarser, 0, (int32_t[]){ i, j, k }, count);
    else
        wgi_inflow_block(job->grid, job->inflow, 0, 1, (int32_t[]){ i, j, k }, count, 1);
    if (job->grid->pressure)
        memset(
            job->grid->pressure + wgi_grid_index(job->grid, i, j, k), 0,
            (size_t)count * sizeof(float));
}

static void expose_slabs(size_t begin, size_t end, void* context)
{
    const expose_job* job = context;
    const overlap* kept = &job->kept;
    const int32_t last = job->grid->nx - 1;
    for (int32_t k = (int32_t)begin + 1; k < (int32_t)end + 1; ++k)
        for (int32_t j = 1; j < job->grid->ny - 1; ++j) {
            const bool crossed =
                k >= kept->low[2] && k < kept->high[2] && j >= kept->low[1] && j < kept->high[1];
            if (!crossed) {
                expose_row(job, 1, j, k, last - 1);
            } else {
                expose_row(job, 1, j, k, kept->low[0] - 1);
                expose_row(job, kept->high[0], j, k, last - kept->high[0]);
            }
        }
}

void wg_cascade_recentre(
    wg_grid* grid, const int64_t low[3], const wg_grid* coarser, const wg_inflow* inflow,
    const wg_exec* exec)
{
    int64_t shift[3];
    for (int axis = 0; axis < 3; ++axis) {
        shift[axis] = low[axis] - grid->low[axis];
        grid->low[axis] = low[axis];
    }
    if (shift[0] == 0 && shift[1] == 0 && shift[2] == 0)
        return;

    expose_job job = { grid, coarser, inflow, overlap_of(grid, shift) };
    shift_job moved = { grid, &job.kept, shift };
    if (job.kept.high[0] > job.kept.low[0])
        wgi_parallel_for(exec, grid->pressure ? 4 : 3, 1, shift_arrays, &moved);
    wgi_parallel_for(exec, (size_t)(grid->nz - 2), 1, expose_slabs, &job);
}
