// wg_project and wg_divergence: checks, scratch, the steps around the solvers.
#include "windgrove/project.h"

#include <math.h>
#include <string.h>

#include "support/parallel.h"
#include "wind/project_solvers.h"

enum { CACHE_LINE = 64, SLAB_GRAIN = 4 };

wg_project_parameters wg_project_defaults(void)
{
    return (wg_project_parameters){ .method = WG_PROJECT_JACOBI,
                                    .discretisation = WG_COMPACT,
                                    .iterations = 20,
                                    .tolerance = 0.0 };
}

void* wgi_arena_take(wgi_arena* arena, size_t bytes)
{
    char* piece = arena->base ? arena->base + arena->used : NULL;
    arena->used += (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return piece;
}

static bool combination_exists(const wg_project_parameters* parameters)
{
    switch (parameters->method) {
    case WG_PROJECT_JACOBI:
        return parameters->discretisation == WG_COMPACT;
    default:
        return false;
    }
}

static bool sizes_are_valid(int32_t nx, int32_t ny, int32_t nz)
{
    const double cells = ((double)nx + 16.0) * ((double)ny + 2.0) * ((double)nz + 2.0);
    return nx >= 1 && ny >= 1 && nz >= 1 && cells < 2147483648.0;
}

static bool parameters_are_valid(const wg_project_parameters* p)
{
    return p->iterations >= 1 && p->tolerance >= 0.0 && isfinite(p->tolerance);
}

static wgi_project_grid make_grid(int32_t nx, int32_t ny, int32_t nz)
{
    wgi_project_grid g = { .nx = nx - 2, .ny = ny - 2, .nz = nz - 2 };
    g.pitch = ((size_t)g.nx + 7) / 8 * 8 + 8;
    g.slab = g.pitch * ((size_t)g.nz + 1);
    g.size = g.slab * ((size_t)g.ny + 2) + g.pitch + 8;
    return g;
}

// Gives every piece its place; the same order counts the bytes where the arena has no base.
static void carve(wgi_project_call* call, wgi_arena* arena, bool solid)
{
    wgi_projection* p = &call->projection;
    const size_t bytes = p->grid.size * sizeof(float);
    p->right_side = wgi_arena_take(arena, bytes);
    p->phi = wgi_arena_take(arena, bytes);
    p->other = wgi_arena_take(arena, bytes);
    p->open = wgi_arena_take(arena, p->grid.size);
    call->slab_sums = wgi_arena_take(arena, (size_t)p->grid.ny * sizeof(double));
    (void)solid;
}

size_t wg_project_scratch_size(
    int32_t nx, int32_t ny, int32_t nz, const wg_project_parameters* parameters, bool solid)
{
    if (!sizes_are_valid(nx, ny, nz) || !parameters_are_valid(parameters) ||
        !combination_exists(parameters))
        return 0;
    if (nx < 3 || ny < 3 || nz < 3)
        return CACHE_LINE;
    wgi_project_call call = { .parameters = *parameters };
    call.projection.grid = make_grid(nx, ny, nz);
    wgi_arena arena = { 0 };
    carve(&call, &arena, solid);
    return arena.used + CACHE_LINE;
}

typedef struct slab_job {
    const wgi_projection* projection;
    wgi_slab_function* kernel;
} slab_job;

static void run_slabs(size_t begin, size_t end, void* context)
{
    const slab_job* job = context;
    job->kernel(job->projection, (int32_t)begin + 1, (int32_t)end + 1);
}

void wgi_project_over_slabs(const wgi_project_call* call, wgi_slab_function* kernel)
{
    slab_job job = { &call->projection, kernel };
    wgi_parallel_for(call->exec, (size_t)call->projection.grid.ny, SLAB_GRAIN, run_slabs, &job);
}

static void residual_slabs(size_t begin, size_t end, void* context)
{
    const wgi_project_call* call = context;
    wgi_kernels()->project_residual(
        &call->projection, call->slab_sums, (int32_t)begin + 1, (int32_t)end + 1);
}

double wgi_project_residual_norm(wgi_project_call* call)
{
    const size_t slabs = (size_t)call->projection.grid.ny;
    wgi_parallel_for(call->exec, slabs, SLAB_GRAIN, residual_slabs, call);
    double sum = 0.0;
    for (size_t j = 0; j < slabs; ++j)
        sum += call->slab_sums[j];
    return sqrt(sum);
}

// Copies the interior of a caller's scalar array to the solver's layout, or back.
static void pressure_in(const wgi_projection* p)
{
    const wgi_project_grid* g = &p->grid;
    const size_t row = (size_t)g->nx + 2, plane = row * ((size_t)g->ny + 2);
    for (int32_t j = 1; j <= g->ny; ++j)
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t from = (size_t)k * plane + (size_t)j * row + 1;
            const size_t to = wgi_project_cell(g, 1, j, k);
            for (int32_t i = 0; i < g->nx; ++i)
                p->phi[to + (size_t)i] =
                    p->solid && p->solid[from + (size_t)i] ? 0.0f : p->pressure[from + (size_t)i];
        }
}

static void pressure_out(const wgi_projection* p)
{
    const wgi_project_grid* g = &p->grid;
    const size_t row = (size_t)g->nx + 2, plane = row * ((size_t)g->ny + 2);
    memset(p->pressure, 0, plane * ((size_t)g->nz + 2) * sizeof(float));
    for (int32_t j = 1; j <= g->ny; ++j)
        for (int32_t k = 1; k <= g->nz; ++k)
            memcpy(
                p->pressure + (size_t)k * plane + (size_t)j * row + 1,
                p->phi + wgi_project_cell(g, 1, j, k), (size_t)g->nx * sizeof(float));
}

// Clears the arrays, fills the right side and the start.
static void prepare(wgi_project_call* call)
{
    wgi_projection* p = &call->projection;
    const size_t bytes = p->grid.size * sizeof(float);
    memset(p->right_side, 0, bytes);
    memset(p->phi, 0, bytes);
    memset(p->other, 0, bytes);
    p->masked = p->solid || p->grid.nx % 8 != 0;
    if (p->masked || call->measure) {
        memset(p->open, 0, p->grid.size);
        wgi_project_over_slabs(call, wgi_kernels()->project_open);
    }
    wgi_project_over_slabs(call, wgi_kernels()->project_right_side);
    if (call->measure) {
        call->norm = wgi_project_residual_norm(call);
        call->result.right_side = call->norm;
    }
    if (p->pressure)
        pressure_in(p);
}

static bool solve(wgi_project_call* call)
{
    switch (call->parameters.method) {
    default:
        return wgi_project_jacobi(call);
    }
}

static void copy_velocity(const wg_project_fields* f)
{
    const size_t bytes = 3 * (size_t)f->nx * (size_t)f->ny * (size_t)f->nz * sizeof(float);
    if (f->out != f->velocity)
        memcpy(f->out, f->velocity, bytes);
}

static size_t air_cells(const wgi_projection* p)
{
    size_t count = 0;
    for (size_t n = 0; n < p->grid.size; ++n)
        count += p->open[n] != 0;
    return count;
}

static wg_status run(wgi_project_call* call)
{
    wgi_projection* p = &call->projection;
    prepare(call);
    const bool nothing_to_do = call->measure && !(call->norm > 0.0) && !isnan(call->norm);
    bool met = true;
    if (nothing_to_do)
        memset(p->phi, 0, p->grid.size * sizeof(float));
    else
        met = solve(call);
    wgi_project_over_slabs(call, wgi_kernels()->project_gradient);
    if (p->pressure)
        pressure_out(p);
    if (call->measure) {
        const double h = (double)p->spacing, cells = (double)air_cells(p);
        call->result.right_side /= h * h * (cells > 0.0 ? sqrt(cells) : 1.0);
    }
    return met ? WG_OK : WG_NOT_CONVERGED;
}

static bool fields_are_valid(const wg_project_fields* f)
{
    return sizes_are_valid(f->nx, f->ny, f->nz) && f->spacing > 0.0 && isfinite(f->spacing);
}

wg_status wg_project(
    const wg_project_fields* fields, const wg_project_parameters* parameters, void* scratch,
    wg_project_result* result, const wg_exec* exec)
{
    if (!fields_are_valid(fields) || !parameters_are_valid(parameters))
        return WG_ERR_VALUE;
    if (!combination_exists(parameters))
        return WG_ERR_UNSUPPORTED;

    copy_velocity(fields);
    wgi_project_call call = { .parameters = *parameters,
                              .exec = exec,
                              .measure = result || parameters->tolerance > 0.0 };
    wg_status status = WG_OK;
    if (fields->nx >= 3 && fields->ny >= 3 && fields->nz >= 3) {
        call.projection =
            (wgi_projection){ .grid = make_grid(fields->nx, fields->ny, fields->nz),
                              .spacing = (float)fields->spacing,
                              .consistent = parameters->discretisation == WG_CONSISTENT,
                              .velocity = fields->velocity,
                              .solid = fields->solid,
                              .pressure = fields->pressure,
                              .out = fields->out };
        const size_t shift = (size_t)(-(uintptr_t)scratch % CACHE_LINE);
        wgi_arena arena = { .base = (char*)scratch + shift };
        carve(&call, &arena, fields->solid != NULL);
        status = run(&call);
    } else if (fields->pressure) {
        memset(
            fields->pressure, 0,
            (size_t)fields->nx * (size_t)fields->ny * (size_t)fields->nz * sizeof(float));
    }
    if (result)
        *result = call.result;
    return status;
}

wg_status wg_divergence(const wg_project_fields* fields, float* out)
{
    if (!fields_are_valid(fields))
        return WG_ERR_VALUE;
    const size_t cells = (size_t)fields->nx * (size_t)fields->ny * (size_t)fields->nz;
    memset(out, 0, cells * sizeof(float));
    if (fields->nx < 3 || fields->ny < 3 || fields->nz < 3)
        return WG_OK;
    // Without a pressure the differences are central ones beside solids too.
    const wgi_projection p = { .grid = make_grid(fields->nx, fields->ny, fields->nz),
                               .spacing = (float)fields->spacing,
                               .consistent = fields->pressure == NULL,
                               .velocity = fields->velocity,
                               .solid = fields->solid,
                               .pressure = fields->pressure,
                               .out = out };
    wgi_kernels()->project_divergence(&p, 1, p.grid.ny + 1);
    return WG_OK;
}
