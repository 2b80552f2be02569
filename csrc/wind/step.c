// One step of the cascade, stage after stage.
#include <string.h>

#include "support/parallel.h"
#include "wind/grid.h"
#include "wind/project_solvers.h"
#include "windgrove/flow.h"

void wg_cascade_move(
    wg_cascade* cascade, const int64_t* low, const wg_inflow* inflow, const wg_exec* exec)
{
    const wg_grid* coarser = NULL;
    for (int32_t level = cascade->level_count - 1; level >= 0; --level) {
        wg_grid* grid = &cascade->grid[level];
        if (low)
            wg_cascade_recentre(grid, low + 3 * level, coarser, inflow, exec);
        if (!coarser)
            wg_cascade_inject(grid, inflow, exec);
        else if (low)
            wg_cascade_inner_border(grid, coarser, exec);
        coarser = grid;
    }
}

static wg_project_fields
fields_of(const wg_grid* grid, const wg_project_parameters* parameters, bool warm)
{
    // A direct solver knows no solids; for its consistent form solid border cells change nothing.
    const bool direct = parameters->method == WG_PROJECT_DIRECT;
    return (wg_project_fields){ .nx = grid->nx,
                                .ny = grid->ny,
                                .nz = grid->nz,
                                .spacing = grid->spacing,
                                .velocity = grid->velocity,
                                .solid = direct ? NULL : grid->solid,
                                .pressure = grid->pressure,
                                .out = grid->velocity,
                                .from_zero = !warm };
}

// Bytes that a level's projection keeps from step to step, and those it works in.
static void level_sizes(
    const wg_cascade* cascade, const wg_cascade_options* options, int32_t level, size_t size[2])
{
    const wg_project_parameters* parameters = &options->projection[level];
    const wg_project_fields f = fields_of(&cascade->grid[level], parameters, false);
    wgi_project_sizes(f.nx, f.ny, f.nz, parameters, f.solid != NULL, size);
    for (int n = 0; n < 2; ++n)
        size[n] = (size[n] + 63) / 64 * 64;
}

// The scratch: a work space for each level, all of one size, then what each level keeps. On one
// thread all levels use the first work space, which then stays in the cache. MacCormack's second
// pass has it before the projection.
typedef struct scratch_plan {
    size_t work; // bytes of one work space
    size_t kept[WG_MAX_LEVELS + 1];
    size_t classes[WG_MAX_LEVELS]; // of solids, for wg_flow_classify
} scratch_plan;

static scratch_plan plan_scratch(const wg_cascade* cascade, const wg_cascade_options* options)
{
    const size_t pass = (3 * wgi_grid_cells(&cascade->grid[0]) * sizeof(float) + 63) / 64 * 64;
    scratch_plan plan = { .work = options->advection != 0 ? pass : 0 };
    size_t size[2];
    for (int32_t n = 0; n < cascade->level_count; ++n) {
        level_sizes(cascade, options, n, size);
        plan.work = size[1] > plan.work ? size[1] : plan.work;
        const wg_grid* grid = &cascade->grid[n];
        plan.classes[n] = plan.kept[n] + size[0];
        plan.kept[n + 1] = plan.classes[n];
        if (grid->solid)
            plan.kept[n + 1] += (wg_flow_classes_size(grid->nx, grid->ny, grid->nz) + 63) / 64 * 64;
    }
    for (int32_t n = 0; n <= cascade->level_count; ++n) {
        plan.kept[n] += plan.work * (size_t)cascade->level_count;
        if (n < cascade->level_count)
            plan.classes[n] += plan.work * (size_t)cascade->level_count;
    }
    return plan;
}

size_t wg_cascade_scratch_size(const wg_cascade* cascade, const wg_cascade_options* options)
{
    size_t size[2];
    for (int32_t level = 0; level < cascade->level_count; ++level) {
        level_sizes(cascade, options, level, size);
        if (size[0] == 0)
            return 0;
    }
    return plan_scratch(cascade, options).kept[cascade->level_count];
}

// ---- one step ------------------------------------------------------------------------------

typedef struct step_job {
    wg_cascade* cascade;
    const wg_cascade_options* options;
    const wg_cascade_forces* forces;
    wg_project_result* result;
    const wg_exec* exec; // of a grid
    scratch_plan plan;
    bool apart; // grids under way at once: each has its own work space
    wg_status status[WG_MAX_LEVELS];
} step_job;

static void* work_space(const step_job* job, int32_t level)
{
    return (char*)job->cascade->scratch + (job->apart ? (size_t)level * job->plan.work : 0);
}

// A stage that touches one grid alone, run for one level.
typedef void grid_stage(step_job* job, int32_t level);

typedef struct dealt_grids {
    step_job* job;
    grid_stage* stage;
} dealt_grids;

static void run_dealt(size_t begin, size_t end, void* context)
{
    const dealt_grids* grids = context;
    for (size_t level = begin; level < end; ++level)
        grids->stage(grids->job, (int32_t)level);
}

// Whole grids are dealt to the threads while there is one for each: no thread then waits for another
// between stages, and a grid stays in one cache. The rest are taken one after another, each by all
// threads.
static void over_grids(step_job* job, grid_stage* stage)
{
    const wg_exec* exec = job->exec;
    const int32_t levels = job->cascade->level_count, threads = exec ? exec->threads : 1;
    const int32_t whole = levels - levels % threads;
    dealt_grids dealt = { job, stage };
    job->exec = NULL;
    wgi_parallel_for(exec, (size_t)whole, 1, run_dealt, &dealt);
    job->exec = exec;
    for (int32_t level = whole; level < levels; ++level)
        stage(job, level);
}

// Ends in grid->velocity whether or not the confinement runs.
static wg_status advect_and_confine(const step_job* job, int32_t level)
{
    const wg_cascade* cascade = job->cascade;
    const wg_cascade_options* options = job->options;
    const wg_grid* grid = &cascade->grid[level];
    float* other = cascade->other[level];
    wg_flow_grid flow = { .nx = grid->nx,
                          .ny = grid->ny,
                          .nz = grid->nz,
                          .spacing = grid->spacing,
                          .solid = grid->solid };
    const float* u = grid->velocity;
    wg_status status =
        wg_flow_classify(&flow, (char*)cascade->scratch + job->plan.classes[level], job->exec);
    if (status != WG_OK)
        return status;
    status = options->advection == 0
                 ? wg_advect(&flow, u, 3, u, options->dt, other, job->exec)
                 : wg_advect_maccormack(
                       &flow, u, 3, u, options->dt, work_space(job, level), other, job->exec);
    if (status != WG_OK)
        return status;
    if (options->vorticity == 0.0) {
        memcpy(grid->velocity, other, 3 * wgi_grid_cells(grid) * sizeof(float));
        return WG_OK;
    }
    return wg_confine_vorticity(
        &flow, other, options->dt, options->vorticity, grid->velocity, job->exec);
}

// Advection, confinement, forces and drag.
static void move_air(step_job* job, int32_t level)
{
    const wg_cascade_forces* forces = job->forces;
    const wg_grid* grid = &job->cascade->grid[level];
    const double dt = job->options->dt;
    wg_status status = advect_and_confine(job, level);
    if (status == WG_OK)
        status = wg_cascade_effect(grid, forces->effector, forces->effector_count, dt, job->exec);
    if (status == WG_OK && job->cascade->drag[level])
        wg_cascade_drag(grid, job->cascade->drag[level], dt, job->exec);
    job->status[level] = status;
}

static void exchange(const wg_cascade* cascade, const wg_exec* exec)
{
    const int32_t levels = cascade->level_count;
    for (int32_t level = levels - 2; level >= 0; --level)
        wg_cascade_inner_border(&cascade->grid[level], &cascade->grid[level + 1], exec);
    for (int32_t level = 0; level + 1 < levels; ++level)
        wg_cascade_restrict(&cascade->grid[level + 1], &cascade->grid[level], exec);
}

static void project_grid(step_job* job, int32_t level)
{
    const wg_grid* grid = &job->cascade->grid[level];
    const wg_project_parameters* parameters = &job->options->projection[level];
    const wg_cascade_forces* forces = job->forces;
    // The projection of u - w, with w added back, is the one whose divergence is that of w: closed
    // faces carry -w in between, and so stay closed for the sum.
    for (int32_t n = 0; n < forces->blast_count; ++n)
        wg_cascade_add_blast(grid, &forces->blast[n], -1.0, job->exec);
    const wg_project_fields fields = fields_of(grid, parameters, job->options->warm_start);
    char* kept = (char*)job->cascade->scratch + job->plan.kept[level];
    const bool works_apart = wgi_project_works_apart(parameters);
    const wgi_project_place place = { kept, works_apart ? work_space(job, level) : NULL };
    wg_project_result* result = job->result ? &job->result[level] : NULL;
    job->status[level] = wgi_project_in(&fields, parameters, place, result, job->exec);
    for (int32_t n = 0; n < forces->blast_count; ++n)
        wg_cascade_add_blast(grid, &forces->blast[n], 1.0, job->exec);
}

// The first error, else the worst of the rest.
static wg_status worst_of(const step_job* job)
{
    wg_status worst = WG_OK;
    for (int32_t level = 0; level < job->cascade->level_count; ++level) {
        if (job->status[level] < 0)
            return job->status[level];
        worst = job->status[level] > worst ? job->status[level] : worst;
    }
    return worst;
}

wg_status wg_cascade_step(
    wg_cascade* cascade, const wg_cascade_options* options, const wg_cascade_forces* forces,
    wg_project_result* result, const wg_exec* exec)
{
    step_job job = { .cascade = cascade,
                     .options = options,
                     .forces = forces,
                     .result = result,
                     .exec = exec,
                     .plan = plan_scratch(cascade, options),
                     .apart = exec && exec->threads > 1 };
    over_grids(&job, move_air);
    const wg_status moved = worst_of(&job);
    if (moved != WG_OK)
        return moved;
    exchange(cascade, exec);
    if (!options->unprojected)
        over_grids(&job, project_grid);
    return worst_of(&job);
}
