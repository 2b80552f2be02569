// wg_project and wg_divergence: checks, scratch, the steps around the solvers.
#include "windgrove/project.h"

#include <math.h>
#include <string.h>

#include "support/parallel.h"
#include "wind/project_solvers.h"

enum { SLAB_GRAIN = 4 };

wg_project_parameters wg_project_defaults(void)
{
    return (wg_project_parameters){ .method = WG_PROJECT_JACOBI,
                                    .discretisation = WG_COMPACT,
                                    .iterations = 20,
                                    .tolerance = 0.0 };
}

// No solid cell inside; for the compact operator none in the border either: there the consistent
// one is not changed by them, since phi = 0 and the velocity is fixed in any border cell.
static bool is_free_of_solids(const wg_project_fields* f, int32_t discretisation)
{
    const int32_t rim = discretisation == WG_CONSISTENT ? 1 : 0;
    if (!f->solid)
        return true;
    for (int32_t k = rim; k < f->nz - rim; ++k)
        for (int32_t j = rim; j < f->ny - rim; ++j) {
            const uint8_t* row = f->solid + ((size_t)k * (size_t)f->ny + (size_t)j) * (size_t)f->nx;
            for (int32_t i = rim; i < f->nx - rim; ++i)
                if (row[i])
                    return false;
        }
    return true;
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

typedef struct band_job {
    const wgi_project_call* call;
    wgi_slab_function* kernel;
} band_job;

static void run_bands(size_t begin, size_t end, void* context)
{
    const band_job* job = context;
    for (size_t n = begin; n < end; ++n) {
        const wgi_band* band = &job->call->band[n];
        wgi_projection p = job->call->projection;
        p.phi = p.other = band->phi;
        job->kernel(&p, band->begin, band->end);
    }
}

void wgi_project_over_slabs(const wgi_project_call* call, wgi_slab_function* kernel)
{
    slab_job job = { &call->projection, kernel };
    band_job banded = { call, kernel };
    if (call->bands > 0)
        wgi_parallel_for(call->exec, (size_t)call->bands, 1, run_bands, &banded);
    else
        wgi_parallel_for(call->exec, (size_t)call->projection.grid.ny, SLAB_GRAIN, run_slabs, &job);
}

static void residual_slabs(size_t begin, size_t end, void* context)
{
    const wgi_project_call* call = context;
    wgi_kernels()->project_residual(
        &call->projection, call->slab_sums, (int32_t)begin + 1, (int32_t)end + 1);
}

static void norm_slabs(size_t begin, size_t end, void* context)
{
    const wgi_project_call* call = context;
    wgi_kernels()->project_norm(
        &call->projection, call->slab_sums, (int32_t)begin + 1, (int32_t)end + 1);
}

static double sum_over_slabs(wgi_project_call* call, wgi_range_function* kernel)
{
    const size_t slabs = (size_t)call->projection.grid.ny;
    wgi_parallel_for(call->exec, slabs, SLAB_GRAIN, kernel, call);
    double sum = 0.0;
    for (size_t j = 0; j < slabs; ++j)
        sum += call->slab_sums[j];
    return sqrt(sum);
}

double wgi_project_residual_norm(wgi_project_call* call)
{
    return sum_over_slabs(call, residual_slabs);
}

double wgi_project_right_side_norm(wgi_project_call* call)
{
    return sum_over_slabs(call, norm_slabs);
}

static size_t air_cells(const wgi_projection* p)
{
    const wgi_project_grid* g = &p->grid;
    const size_t row = (size_t)g->nx + 2, plane = row * ((size_t)g->ny + 2);
    size_t solid = 0;
    for (int32_t k = 1; p->solid && k <= g->nz; ++k)
        for (int32_t j = 1; j <= g->ny; ++j) {
            const uint8_t* cells = p->solid + (size_t)k * plane + (size_t)j * row + 1;
            for (int32_t i = 0; i < g->nx; ++i)
                solid += cells[i] != 0;
        }
    return (size_t)g->nx * (size_t)g->ny * (size_t)g->nz - solid;
}

static bool is_plain(const wgi_project_call* call)
{
    return call->parameters.method == WG_PROJECT_JACOBI && call->parameters.tolerance == 0.0;
}

// Records the norms of the right side with and without its null part, which is taken out; the plain
// iteration gets it back.
static void measure_right_side(wgi_project_call* call)
{
    const wgi_projection* p = &call->projection;
    const double before = wgi_project_right_side_norm(call);
    const bool plain =
        call->parameters.method == WG_PROJECT_JACOBI && call->parameters.tolerance == 0.0;
    if (call->reuse && call->memory->null_count >= 0)
        call->null.count = call->memory->null_count;
    else if (call->null.component)
        call->null.count = wgi_null_find(p, call->null.component, call->null.cells);
    if (call->null.count && plain)
        memcpy(p->other, p->right_side, p->grid.size * sizeof(float));
    wgi_null_remove(&call->null, &p->grid, p->right_side);
    call->norm = call->null.count ? wgi_project_right_side_norm(call) : before;
    const double h = (double)p->spacing, cells = (double)air_cells(p);
    const double removed = before * before - call->norm * call->norm;
    call->result.null_modes = call->null.count;
    call->result.null_part = before > 0.0 && removed > 0.0 ? sqrt(removed) / before : 0.0;
    call->result.right_side = cells > 0.0 ? before / (h * h * sqrt(cells)) : 0.0;
    // What is left of a right side that was all null part is rounding.
    if (call->null.count && call->norm < 1e-6 * before)
        call->norm = 0.0;
    if (call->null.count && plain) {
        memcpy(p->right_side, p->other, p->grid.size * sizeof(float));
        memset(p->other, 0, p->grid.size * sizeof(float));
    }
}

// Conjugate gradients stop by the norm of the right side, which also says when there is nothing to
// do; the others compute it only where the residual is wanted or null modes must be removed.
static bool stops_by_norm(const wgi_project_call* call)
{
    return call->parameters.method == WG_PROJECT_MULTIGRID ||
           call->parameters.method == WG_PROJECT_PCG;
}

static bool knows_norm(const wgi_project_call* call)
{
    return call->measure || call->null.component || stops_by_norm(call);
}

// Fills the scratch with what the solver starts from. Solid cells and padding must hold 0: Jacobi
// sweeps write all of the rows but blocks of solids, the direct solver all but the padding.
static void prepare(wgi_project_call* call)
{
    wgi_projection* p = &call->projection;
    const wgi_kernel_table* kernels = wgi_kernels();
    const size_t bytes = p->grid.size * sizeof(float);
    const int32_t method = call->parameters.method;
    const bool direct = method == WG_PROJECT_DIRECT;
    p->jacobi = method == WG_PROJECT_JACOBI;
    p->masked = p->solid || p->grid.nx % 8 != 0;
    p->sweep_at_once = p->jacobi && !p->pressure && call->parameters.tolerance == 0.0;
    if (!p->jacobi && !direct) {
        memset(p->other, 0, bytes);
        memset(p->right_side, 0, bytes);
    }
    if (is_plain(call) && !call->measure)
        wgi_project_choose_bands(call);
    // What the right side does not write of phi.
    p->fill = !p->sweep_at_once && !(direct && p->grid.nx % 8 == 0);
    if ((p->masked || knows_norm(call) || method == WG_PROJECT_SOR) && !call->has_faces) {
        wgi_project_over_slabs(call, kernels->project_faces);
        call->has_faces = true;
    }
    wgi_project_over_slabs(call, kernels->project_start);
    if (knows_norm(call))
        measure_right_side(call);
}

// The residual of a consistent projection is the divergence of the velocity that came out.
double wgi_project_divergence_left(wgi_project_call* call)
{
    wgi_projection* p = &call->projection;
    p->velocity = p->out;
    wgi_project_over_slabs(call, wgi_kernels()->project_right_side);
    wgi_null_remove(&call->null, &p->grid, p->right_side);
    return wgi_project_right_side_norm(call);
}

static bool solve_direct(wgi_project_call* call)
{
    wgi_projection* p = &call->projection;
    wgi_direct_fill(&call->direct, p, !call->reuse);
    wgi_direct_solve(&call->direct, call->exec, p->right_side, p->phi);
    wgi_project_over_slabs(call, wgi_kernels()->project_finish);
    call->result.iterations = 1;
    if (!call->measure)
        return true;
    const double left =
        p->consistent ? wgi_project_divergence_left(call) : wgi_project_residual_norm(call);
    call->result.residual = left / call->norm;
    return call->parameters.tolerance == 0.0 || call->result.residual <= call->parameters.tolerance;
}

static bool solve(wgi_project_call* call)
{
    bool met;
    switch (call->parameters.method) {
    case WG_PROJECT_DIRECT:
        return solve_direct(call);
    case WG_PROJECT_PCG:
        met = wgi_project_pcg(call);
        wgi_project_over_slabs(call, wgi_kernels()->project_found);
        return met;
    case WG_PROJECT_MULTIGRID:
        met = wgi_project_multigrid(call);
        break;
    default:
        met = wgi_project_sweeps(call);
    }
    wgi_project_over_slabs(call, wgi_kernels()->project_finish);
    return met;
}

// The border cells that no row of the interior holds.
static void copy_border(const wg_project_fields* f)
{
    const size_t row = (size_t)f->nx, plane = row * (size_t)f->ny;
    const size_t bytes = row * sizeof(float);
    if (f->out == f->velocity)
        return;
    for (size_t n = 0; n < 3 * (size_t)f->nz; ++n) {
        const size_t first = n * plane, last = first + plane - row;
        const size_t k = n % (size_t)f->nz;
        if (k == 0 || k == (size_t)f->nz - 1 || f->nx < 3 || f->ny < 3) {
            memcpy(f->out + first, f->velocity + first, plane * sizeof(float));
        } else {
            memcpy(f->out + first, f->velocity + first, bytes);
            memcpy(f->out + last, f->velocity + last, bytes);
        }
    }
}

static void copy_velocity(const wg_project_fields* f)
{
    const size_t cells = (size_t)f->nx * (size_t)f->ny * (size_t)f->nz;
    if (f->out != f->velocity)
        memcpy(f->out, f->velocity, 3 * cells * sizeof(float));
}

// Conjugate gradients have no step to take from a right side that is not finite: the answer is NaN
// as that of a direct solver would be, not what the memory held.
static bool give_nan(wgi_project_call* call)
{
    wgi_projection* p = &call->projection;
    for (size_t n = 0; n < p->grid.size; ++n)
        p->phi[n] = NAN;
    wgi_project_over_slabs(call, wgi_kernels()->project_finish);
    memset(p->phi, 0, p->grid.size * sizeof(float));
    call->result.residual = (double)NAN;
    return call->parameters.tolerance == 0.0;
}

static wg_status run(wgi_project_call* call)
{
    wgi_projection* p = &call->projection;
    wgi_project_recall(call);
    prepare(call);
    bool met = true;
    const double norm = is_plain(call) ? call->result.right_side : call->norm;
    if (knows_norm(call) && norm == 0.0) {
        memset(p->phi, 0, p->grid.size * sizeof(float));
        wgi_project_over_slabs(call, wgi_kernels()->project_finish);
    } else if (stops_by_norm(call) && !isfinite(norm)) {
        met = give_nan(call);
    } else {
        met = solve(call);
        wgi_project_remember(call);
    }
    return met ? WG_OK : WG_NOT_CONVERGED;
}

static bool fields_are_valid(const wg_project_fields* f)
{
    return wgi_project_sizes_fit(f->nx, f->ny, f->nz) && f->spacing > 0.0 && isfinite(f->spacing);
}

// Marks of which none is set cost no more than a look at them.
static bool has_solid(const wg_project_fields* f)
{
    enum { PIECE = 4096 };
    const size_t cells = (size_t)f->nx * (size_t)f->ny * (size_t)f->nz;
    uint8_t any = 0;
    for (size_t begin = 0; f->solid && begin < cells && any == 0; begin += PIECE) {
        const size_t end = cells - begin < PIECE ? cells : begin + PIECE;
        for (size_t n = begin; n < end; ++n)
            any |= f->solid[n];
    }
    return any != 0;
}

static void start_call(
    wgi_project_call* call, const wg_project_fields* fields,
    const wg_project_parameters* parameters, wgi_project_place place, const wg_exec* exec)
{
    const bool direct = parameters->method == WG_PROJECT_DIRECT;
    call->parameters = *parameters;
    call->exec = exec;
    call->projection = (wgi_projection){
        .grid = wgi_project_make_grid(fields->nx - 2, fields->ny - 2, fields->nz - 2),
        .spacing = (float)fields->spacing,
        .consistent = parameters->discretisation == WG_CONSISTENT,
        .velocity = fields->velocity,
        .solid = direct || !has_solid(fields) ? NULL : fields->solid,
        .pressure = fields->from_zero ? NULL : fields->pressure,
        .found = fields->pressure,
        .out = fields->out,
    };
    wgi_project_carve(call, place);
}

void wgi_project_begin(
    wgi_project_call* call, const wg_project_fields* fields,
    const wg_project_parameters* parameters, void* scratch, const wg_exec* exec)
{
    *call = (wgi_project_call){ 0 };
    start_call(call, fields, parameters, (wgi_project_place){ scratch, NULL }, exec);
    prepare(call);
}

wg_status wgi_project_in(
    const wg_project_fields* fields, const wg_project_parameters* parameters,
    wgi_project_place place, wg_project_result* result, const wg_exec* exec)
{
    if (!fields_are_valid(fields) || !wgi_project_numbers_fit(parameters))
        return WG_ERR_VALUE;
    if (!wgi_project_exists(parameters))
        return WG_ERR_UNSUPPORTED;
    if (parameters->method == WG_PROJECT_DIRECT &&
        !is_free_of_solids(fields, parameters->discretisation))
        return WG_ERR_UNSUPPORTED;

    wgi_project_call call = { .measure = result || parameters->tolerance > 0.0 };
    wg_status status = WG_OK;
    if (fields->nx >= 3 && fields->ny >= 3 && fields->nz >= 3) {
        copy_border(fields);
        start_call(&call, fields, parameters, place, exec);
        status = run(&call);
    } else {
        copy_velocity(fields);
        if (fields->pressure)
            memset(
                fields->pressure, 0,
                (size_t)fields->nx * (size_t)fields->ny * (size_t)fields->nz * sizeof(float));
    }
    if (result)
        *result = call.result;
    return status;
}

wg_status wg_project(
    const wg_project_fields* fields, const wg_project_parameters* parameters, void* scratch,
    wg_project_result* result, const wg_exec* exec)
{
    return wgi_project_in(fields, parameters, (wgi_project_place){ scratch, NULL }, result, exec);
}

wg_status wg_jacobi_sweeps(
    const wg_project_fields* fields, const float* divergence, int32_t iterations, void* scratch,
    const wg_exec* exec)
{
    wg_project_parameters parameters = wg_project_defaults();
    parameters.iterations = iterations;
    if (!fields_are_valid(fields) || !wgi_project_numbers_fit(&parameters) || !fields->pressure)
        return WG_ERR_VALUE;
    if (fields->nx < 3 || fields->ny < 3 || fields->nz < 3) {
        const size_t cells = (size_t)fields->nx * (size_t)fields->ny * (size_t)fields->nz;
        memset(fields->pressure, 0, cells * sizeof(float));
        return WG_OK;
    }
    wgi_project_call call = { 0 };
    start_call(&call, fields, &parameters, (wgi_project_place){ scratch, NULL }, exec);
    call.projection.given = divergence;
    wgi_project_recall(&call);
    prepare(&call);
    wgi_project_sweeps(&call);
    wgi_project_over_slabs(&call, wgi_kernels()->project_found);
    wgi_project_remember(&call);
    return WG_OK;
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
    const wgi_projection p = { .grid = wgi_project_make_grid(
                                   fields->nx - 2, fields->ny - 2, fields->nz - 2),
                               .spacing = (float)fields->spacing,
                               .consistent = fields->pressure == NULL,
                               .velocity = fields->velocity,
                               .solid = fields->solid,
                               .pressure = fields->pressure,
                               .out = out };
    wgi_kernels()->project_divergence(&p, 1, p.grid.ny + 1);
    return WG_OK;
}
