// The whole step of the default wind, three grids of 48x48x16, and the cascade's own stages.
#include <math.h>
#include <string.h>

#include "bench.h"
#include "windgrove/cascade.h"
#include "windgrove/flow.h"

enum {
    LEVELS = 3,
    NX = 50,
    NY = 50,
    NZ = 18,
    CELLS = NX * NY * NZ,
    INNER = 48 * 48 * 16,
    STEPS = 4
};

// Floating-point operations a cell of the step with the direct and with the Jacobi solver, from
// the count of its stages (30.7 and 33.6 MFlop for 110,592 cells).
static const double FLOPS_DIRECT = 30.7e6 / (LEVELS * INNER);
static const double FLOPS_JACOBI = 33.6e6 / (LEVELS * INNER);

typedef struct scene {
    wg_cascade cascade;
    wg_cascade_options options;
    wg_inflow inflow;
    wg_exec exec;
    char* alone[LEVELS]; // scratch of projections outside a step, which keeps its own
    int64_t low[LEVELS][3];
    int64_t moves;
} scene;

// What stands in the grids: nothing; nothing, with markers; 30 % in houses of 6 x 6 cells; 30 % in
// blocks of 16 x 16.
typedef enum ground { OPEN, UNMARKED, HOUSES, BLOCKS } ground;

// Boxes up to most of the height, at random, until the share is reached.
static uint8_t* make_solid(ground kind)
{
    if (kind == OPEN)
        return NULL;
    uint8_t* solid = bench_array(CELLS);
    const int side = kind == BLOCKS ? 16 : 6;
    double filled = 0.0;
    while (kind != UNMARKED && filled < 0.3 * CELLS) {
        const int i0 = (int)((0.5 + 0.5 * bench_random()) * (NX - side - 1));
        const int j0 = (int)((0.5 + 0.5 * bench_random()) * (NY - side - 1));
        for (int k = 0; k < 14; ++k)
            for (int j = j0; j < j0 + side; ++j)
                for (int i = i0; i < i0 + side; ++i) {
                    uint8_t* cell = solid + ((size_t)k * NY + (size_t)j) * NX + (size_t)i;
                    filled += *cell == 0;
                    *cell = 1;
                }
    }
    return solid;
}

static void hold_solids(const wg_grid* grid)
{
    for (size_t n = 0; grid->solid && n < 3 * CELLS; ++n)
        if (grid->solid[n % CELLS])
            grid->velocity[n] = 0.0f;
}

static scene make_scene(int32_t method, ground kind, int32_t threads)
{
    scene s = { .exec = { threads } };
    const double turbulence = 0.15 / 0.27;
    const double focus[3] = { 0.0, 0.0, 4.0 };
    const int32_t cells[3] = { 48, 48, 16 };
    wg_cascade_place(focus, cells, LEVELS, 0.5, (double)NAN, &s.low[0][0]);
    s.inflow.prevailing.velocity[0] = 6.0;
    s.inflow.noise.strength = turbulence;
    s.inflow.noise.scale = 8.0;
    for (uint64_t c = 0; c < 3; ++c)
        wg_permutation_init(&s.inflow.noise.permutation[c], c);
    s.options.dt = 1.0 / 30.0;
    s.options.vorticity = 0.2;
    s.cascade.level_count = LEVELS;
    uint8_t* solid = make_solid(kind);
    for (int n = 0; n < LEVELS; ++n) {
        wg_grid* grid = &s.cascade.grid[n];
        *grid = (wg_grid){ .nx = NX, .ny = NY, .nz = NZ, .spacing = 0.5 * (1 << n) };
        memcpy(grid->low, s.low[n], sizeof grid->low);
        grid->velocity = bench_array(3 * CELLS * sizeof(float));
        grid->pressure = bench_array(CELLS * sizeof(float));
        grid->solid = solid;
        s.cascade.other[n] = bench_array(3 * CELLS * sizeof(float));
        s.options.projection[n] = wg_project_defaults();
        s.options.projection[n].method = method;
        if (method == WG_PROJECT_DIRECT || method == WG_PROJECT_PCG)
            s.options.projection[n].discretisation = WG_CONSISTENT;
        if (method == WG_PROJECT_PCG)
            s.options.projection[n].iterations = 12;
        if (method == WG_PROJECT_MULTIGRID)
            s.options.projection[n].iterations = 2;
        s.alone[n] = bench_array(
            wg_project_scratch_size(NX, NY, NZ, &s.options.projection[n], solid != NULL));
        wg_cascade_fill(grid, &s.inflow, NULL);
        hold_solids(grid);
    }
    s.cascade.scratch = bench_array(wg_cascade_scratch_size(&s.cascade, &s.options));
    return s;
}

static void drift(scene* s)
{
    s->inflow.noise.offset[0] += 6.0 / 30.0 / 8.0;
}

static void one_step(scene* s)
{
    const wg_cascade_forces none = { 0 };
    drift(s);
    wg_cascade_move(&s->cascade, NULL, &s->inflow, &s->exec);
    (void)wg_cascade_step(&s->cascade, &s->options, &none, NULL, &s->exec);
}

// Some in a row, as in a run: only the first finds the grids of another case in the cache.
static void step(void* state)
{
    scene* s = state;
    for (int n = 0; n < STEPS; ++n)
        one_step(s);
    bench_keep(s->cascade.grid[0].velocity);
}

// The grids go to and fro by one cell of the coarsest grid.
static void step_moving(void* state)
{
    scene* s = state;
    const wg_cascade_forces none = { 0 };
    for (int step = 0; step < STEPS; ++step) {
        const int64_t to = ++s->moves % 2;
        int64_t low[LEVELS][3];
        memcpy(low, s->low, sizeof low);
        for (int n = 0; n < LEVELS; ++n)
            low[n][0] += to << (LEVELS - 1 - n);
        drift(s);
        wg_cascade_move(&s->cascade, &low[0][0], &s->inflow, &s->exec);
        (void)wg_cascade_step(&s->cascade, &s->options, &none, NULL, &s->exec);
    }
}

static void inject(void* state)
{
    scene* s = state;
    drift(s);
    wg_cascade_inject(&s->cascade.grid[LEVELS - 1], &s->inflow, &s->exec);
}

static void inner_borders(void* state)
{
    scene* s = state;
    for (int n = LEVELS - 2; n >= 0; --n)
        wg_cascade_inner_border(&s->cascade.grid[n], &s->cascade.grid[n + 1], &s->exec);
}

static void coarse_from_fine(void* state)
{
    scene* s = state;
    for (int n = 0; n + 1 < LEVELS; ++n)
        wg_cascade_restrict(&s->cascade.grid[n + 1], &s->cascade.grid[n], &s->exec);
}

// ---- stages of one step, over all grids ----

static wg_flow_grid flow_of(const wg_grid* grid)
{
    return (wg_flow_grid){ .nx = grid->nx,
                           .ny = grid->ny,
                           .nz = grid->nz,
                           .spacing = grid->spacing,
                           .solid = grid->solid };
}

static void advect(void* state)
{
    scene* s = state;
    for (int n = 0; n < LEVELS; ++n) {
        const wg_flow_grid flow = flow_of(&s->cascade.grid[n]);
        const float* u = s->cascade.grid[n].velocity;
        (void)wg_advect(&flow, u, 3, u, s->options.dt, s->cascade.other[n], &s->exec);
    }
}

static void confine(void* state)
{
    scene* s = state;
    for (int n = 0; n < LEVELS; ++n) {
        const wg_flow_grid flow = flow_of(&s->cascade.grid[n]);
        (void)wg_confine_vorticity(
            &flow, s->cascade.grid[n].velocity, s->options.dt, s->options.vorticity,
            s->cascade.other[n], &s->exec);
    }
}

static void project(void* state)
{
    scene* s = state;
    for (int n = 0; n < LEVELS; ++n) {
        const wg_grid* g = &s->cascade.grid[n];
        const wg_project_fields fields = { .nx = g->nx,
                                           .ny = g->ny,
                                           .nz = g->nz,
                                           .spacing = g->spacing,
                                           .velocity = g->velocity,
                                           .solid = g->solid,
                                           .pressure = g->pressure,
                                           .out = s->cascade.other[n] };
        memset(g->pressure, 0, CELLS * sizeof(float));
        (void)wg_project(&fields, &s->options.projection[n], s->alone[n], NULL, &s->exec);
    }
}

int main(int argc, char** argv)
{
    scene jacobi = make_scene(WG_PROJECT_JACOBI, OPEN, 1);
    scene jacobi2 = make_scene(WG_PROJECT_JACOBI, OPEN, 2);
    scene direct = make_scene(WG_PROJECT_DIRECT, OPEN, 1);
    scene direct2 = make_scene(WG_PROJECT_DIRECT, OPEN, 2);
    scene moving = make_scene(WG_PROJECT_DIRECT, OPEN, 1);
    scene marked = make_scene(WG_PROJECT_JACOBI, UNMARKED, 1);
    scene houses = make_scene(WG_PROJECT_JACOBI, HOUSES, 1);
    scene houses2 = make_scene(WG_PROJECT_JACOBI, HOUSES, 2);
    scene blocks = make_scene(WG_PROJECT_JACOBI, BLOCKS, 1);
    scene multigrid = make_scene(WG_PROJECT_MULTIGRID, HOUSES, 1);
    scene exact = make_scene(WG_PROJECT_PCG, HOUSES, 1);
    const double all = LEVELS * INNER, border = CELLS - INNER;
#define IN_EACH_GROUND(name, function, items, item)                                                \
    { name, function, &jacobi, items, item, 0.0, 0.0, NULL },                                      \
        { name "/no solid", function, &marked, items, item, 0.0, 0.0, name },                      \
        { name "/30 % houses", function, &houses, items, item, 0.0, 0.0, name },                   \
    {                                                                                              \
        name "/30 % blocks", function, &blocks, items, item, 0.0, 0.0, name                        \
    }
    const bench_case cases[] = {
        { "fma_peak", bench_fma_peak, NULL, 1.0, NULL, bench_fma_flops(), 0.0, NULL },
        { "step", step, &jacobi, STEPS * all, "cell", FLOPS_JACOBI, 0.0, NULL },
        { "step/no solid", step, &marked, STEPS * all, "cell", FLOPS_JACOBI, 0.0, "step" },
        { "step/30 % houses", step, &houses, STEPS * all, "cell", FLOPS_JACOBI, 0.0, "step" },
        { "step/30 % blocks", step, &blocks, STEPS * all, "cell", FLOPS_JACOBI, 0.0, "step" },
        { "step/2 threads", step, &jacobi2, STEPS * all, "cell", FLOPS_JACOBI, 0.0, "step" },
        { "step/30 % houses, 2 threads", step, &houses2, STEPS * all, "cell", FLOPS_JACOBI, 0.0,
          "step/30 % houses" },
        { "step/30 % houses, multigrid", step, &multigrid, STEPS * all, "cell", 0.0, 0.0, "step" },
        { "step/30 % houses, pcg", step, &exact, STEPS * all, "cell", 0.0, 0.0, "step" },
        { "step/direct", step, &direct, STEPS * all, "cell", FLOPS_DIRECT, 0.0, "step" },
        { "step/direct, 2 threads", step, &direct2, STEPS * all, "cell", FLOPS_DIRECT, 0.0,
          "step/direct" },
        { "step/direct, moving", step_moving, &moving, STEPS * all, "cell", 0.0, 0.0,
          "step/direct" },
        IN_EACH_GROUND("advect", advect, all, "cell"),
        IN_EACH_GROUND("confine", confine, all, "cell"),
        IN_EACH_GROUND("project", project, all, "cell"),
        IN_EACH_GROUND("inner_borders", inner_borders, 2.0 * border, "border cell"),
        IN_EACH_GROUND("coarse_from_fine", coarse_from_fine, all, "cell"),
        { "inject", inject, &direct, border, "border cell", 0.0, 0.0, NULL },
        { "inject/2 threads", inject, &direct2, border, "border cell", 0.0, 0.0, "inject" },
        { "project/direct", project, &direct, all, "cell", 0.0, 0.0, "project" },
    };
    return bench_main(argc, argv, cases, sizeof cases / sizeof *cases);
}
