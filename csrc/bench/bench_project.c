// The pressure projection on the three grids of the default wind, in one run with the plain loops.
//
// "whole" is wg_project: divergence, solver, gradient, copies. "sweeps" are the 20 Jacobi sweeps
// alone, "solve" the direct solver alone.
#include <string.h>

#include "bench.h"
#include "textbook_project.h"
#include "wind/project_solvers.h"
#include "windgrove/project.h"

enum { LEVELS = 3, NX = 50, NY = 50, NZ = 18, CELLS = NX * NY * NZ, INNER = 48 * 48 * 16 };

typedef struct scene {
    wg_project_fields fields[LEVELS];
    wg_project_parameters parameters;
    wg_exec exec;
    char* scratch[LEVELS];
    float *divergence[LEVELS], *phi[LEVELS], *other[LEVELS]; // of the plain loops
    wgi_project_call call[LEVELS];                           // of the solvers alone
} scene;

static const double spacing[LEVELS] = { 0.5, 1.0, 2.0 };

// Houses on the ground: about `share` of the cells.
static uint8_t* build(double share)
{
    uint8_t* solid = bench_array(CELLS);
    const int side = (int)(12.0 * (share > 0.2 ? 0.7 : share > 0.0 ? 0.4 : 0.0));
    for (int z = 0; z < 11; ++z)
        for (int y = 1; y < NY - 1; ++y)
            for (int x = 1; x < NX - 1; ++x)
                solid[(z * NY + y) * NX + x] = (x - 1) % 12 < side && (y - 1) % 12 < side;
    return solid;
}

static scene make_scene(int method, int discretisation, int iterations, const uint8_t* solid)
{
    scene s = { .exec = { 1 } };
    s.parameters = (wg_project_parameters){ method, discretisation, iterations, 0.0 };
    for (int n = 0; n < LEVELS; ++n) {
        float* velocity = bench_array(3 * CELLS * sizeof(float));
        for (int i = 0; i < 3 * CELLS; ++i)
            velocity[i] = solid && solid[i % CELLS] ? 0.0f : (float)bench_random();
        s.fields[n] = (wg_project_fields){ .nx = NX,
                                           .ny = NY,
                                           .nz = NZ,
                                           .spacing = spacing[n],
                                           .velocity = velocity,
                                           .solid = solid,
                                           .out = bench_array(3 * CELLS * sizeof(float)) };
        s.scratch[n] =
            bench_array(wg_project_scratch_size(NX, NY, NZ, &s.parameters, solid != NULL));
        s.divergence[n] = bench_array(CELLS * sizeof(float));
        s.phi[n] = bench_array(CELLS * sizeof(float));
        s.other[n] = bench_array(CELLS * sizeof(float));
    }
    return s;
}

static void whole(void* state)
{
    scene* s = state;
    for (int n = 0; n < LEVELS; ++n)
        wg_project(&s->fields[n], &s->parameters, s->scratch[n], NULL, &s->exec);
    bench_keep(s->fields[0].out);
}

// Leaves a call in the state just before its solver.
static void prepare_solvers(scene* s)
{
    for (int n = 0; n < LEVELS; ++n)
        wgi_project_begin(&s->call[n], &s->fields[n], &s->parameters, s->scratch[n], &s->exec);
}

static void sweeps(void* state)
{
    scene* s = state;
    for (int n = 0; n < LEVELS; ++n) {
        // Sweeps move phi within the scratch; the next round starts in the same place.
        wgi_project_call call = s->call[n];
        memset(call.projection.phi, 0, call.projection.grid.size * sizeof(float));
        call.projection.sweep_at_once = false; // which would leave 19
        wgi_project_sweeps(&call);
    }
    bench_keep(s);
}

static void set_up(void* state)
{
    scene* s = state;
    for (int n = 0; n < LEVELS; ++n)
        wgi_direct_fill(&s->call[n].direct, &s->call[n].projection, true);
    bench_keep(s);
}

// V-cycles with a set-up that is kept, as in a step with the same marks as the one before.
static void cycles(void* state)
{
    scene* s = state;
    for (int n = 0; n < LEVELS; ++n) {
        wgi_project_multigrid(&s->call[n]);
        s->call[n].reuse = true;
    }
    bench_keep(s);
}

static void solve(void* state)
{
    scene* s = state;
    for (int n = 0; n < LEVELS; ++n) {
        wgi_projection* p = &s->call[n].projection;
        wgi_direct_solve(&s->call[n].direct, &s->exec, p->right_side, p->phi);
    }
    bench_keep(s);
}

#define TEXTBOOK(level)                                                                            \
    static void sweeps_##level(void* state)                                                        \
    {                                                                                              \
        scene* s = state;                                                                          \
        for (int n = 0; n < LEVELS; ++n) {                                                         \
            const textbook_box box = { NX, NY, NZ, (float)spacing[n], s->fields[n].solid };        \
            textbook_##level##_jacobi(&box, s->divergence[n], s->phi[n], s->other[n], 20);         \
        }                                                                                          \
        bench_keep(s->phi);                                                                        \
    }                                                                                              \
    static void whole_##level(void* state)                                                         \
    {                                                                                              \
        scene* s = state;                                                                          \
        for (int n = 0; n < LEVELS; ++n) {                                                         \
            const textbook_box box = { NX, NY, NZ, (float)spacing[n], s->fields[n].solid };        \
            const wg_project_fields* f = &s->fields[n];                                            \
            textbook_##level##_divergence(&box, f->velocity, s->divergence[n]);                    \
            textbook_##level##_jacobi(&box, s->divergence[n], s->phi[n], s->other[n], 20);         \
            textbook_##level##_subtract(&box, s->phi[n], f->velocity, f->out);                     \
        }                                                                                          \
        bench_keep(s->phi);                                                                        \
    }

TEXTBOOK(plain)
TEXTBOOK(fast)

int main(int argc, char** argv)
{
    const uint8_t* none = bench_array(CELLS);
    const uint8_t *few = build(0.1), *many = build(0.3);
    scene open = make_scene(WG_PROJECT_JACOBI, WG_COMPACT, 20, NULL);
    scene marked = make_scene(WG_PROJECT_JACOBI, WG_COMPACT, 20, none);
    scene some = make_scene(WG_PROJECT_JACOBI, WG_COMPACT, 20, few);
    scene town = make_scene(WG_PROJECT_JACOBI, WG_COMPACT, 20, many);
    scene two = make_scene(WG_PROJECT_JACOBI, WG_COMPACT, 20, NULL);
    scene sor = make_scene(WG_PROJECT_SOR, WG_COMPACT, 20, NULL);
    scene direct = make_scene(WG_PROJECT_DIRECT, WG_COMPACT, 1, NULL);
    scene wide = make_scene(WG_PROJECT_DIRECT, WG_CONSISTENT, 1, NULL);
    scene direct_two = make_scene(WG_PROJECT_DIRECT, WG_COMPACT, 1, NULL);
    scene grid1 = make_scene(WG_PROJECT_MULTIGRID, WG_COMPACT, 1, few);
    scene grid2 = make_scene(WG_PROJECT_MULTIGRID, WG_COMPACT, 2, few);
    scene grid4 = make_scene(WG_PROJECT_MULTIGRID, WG_COMPACT, 4, few);
    scene free1 = make_scene(WG_PROJECT_MULTIGRID, WG_COMPACT, 1, NULL);
    scene free2 = make_scene(WG_PROJECT_MULTIGRID, WG_COMPACT, 2, NULL);
    scene free4 = make_scene(WG_PROJECT_MULTIGRID, WG_COMPACT, 4, NULL);
    scene town2 = make_scene(WG_PROJECT_MULTIGRID, WG_COMPACT, 2, many);
    scene two2 = make_scene(WG_PROJECT_MULTIGRID, WG_COMPACT, 2, few);
    scene cg4 = make_scene(WG_PROJECT_PCG, WG_CONSISTENT, 4, few);
    scene cg8 = make_scene(WG_PROJECT_PCG, WG_CONSISTENT, 8, few);
    scene cg8_two = make_scene(WG_PROJECT_PCG, WG_CONSISTENT, 8, few);
    two.exec.threads = two2.exec.threads = direct_two.exec.threads = cg8_two.exec.threads = 2;
    prepare_solvers(&open);
    prepare_solvers(&some);
    prepare_solvers(&town);
    prepare_solvers(&two);
    prepare_solvers(&sor);
    prepare_solvers(&free1);
    prepare_solvers(&free2);
    prepare_solvers(&free4);
    prepare_solvers(&grid1);
    prepare_solvers(&grid2);
    prepare_solvers(&grid4);
    prepare_solvers(&town2);
    prepare_solvers(&two2);
    prepare_solvers(&direct);
    prepare_solvers(&wide);
    prepare_solvers(&direct_two);
    set_up(&direct);
    set_up(&wide);
    set_up(&direct_two);
    const double items = LEVELS * (double)INNER;
    const char *plain = "20 sweeps, plain loop -O2", *ours = "20 sweeps";
    const char *all = "whole, 20 sweeps", *some_sweeps = "20 sweeps, 7 % solids";

    const bench_case cases[] = {
        { plain, sweeps_plain, &marked, items, "cell", 160, 240, NULL },
        { "20 sweeps, plain loop -O3", sweeps_fast, &marked, items, "cell", 160, 240, plain },
        { ours, sweeps, &open, items, "cell", 160, 240, plain },
        { some_sweeps, sweeps, &some, items, "cell", 160, 240, ours },
        { "20 sweeps, 30 % solids", sweeps, &town, items, "cell", 160, 240, ours },
        { "20 sweeps, two threads", sweeps, &two, items, "cell", 160, 240, ours },
        { "20 SOR sweeps", sweeps, &sor, items, "cell", 0, 0, ours },
        { "1 cycle", cycles, &free1, items, "cell", 0, 0, ours },
        { "2 cycles", cycles, &free2, items, "cell", 0, 0, ours },
        { "4 cycles", cycles, &free4, items, "cell", 0, 0, ours },
        { "1 cycle, 7 % solids", cycles, &grid1, items, "cell", 0, 0, some_sweeps },
        { "2 cycles, 7 % solids", cycles, &grid2, items, "cell", 0, 0, some_sweeps },
        { "4 cycles, 7 % solids", cycles, &grid4, items, "cell", 0, 0, some_sweeps },
        { "2 cycles, 30 % solids", cycles, &town2, items, "cell", 0, 0, "20 sweeps, 30 % solids" },
        { "2 cycles, two threads", cycles, &two2, items, "cell", 0, 0, "2 cycles, 7 % solids" },
        { "solve directly, compact", solve, &direct, items, "cell", 134, 8, ours },
        { "solve directly, consistent", solve, &wide, items, "cell", 134, 8, ours },
        { "tables of a direct solve", set_up, &direct, items, "cell", 0, 0, ours },
        { "solve directly, two threads", solve, &direct_two, items, "cell", 134, 8, ours },
        { "whole, plain loop -O2", whole_plain, &marked, items, "cell", 0, 32, NULL },
        { "whole, plain loop -O3", whole_fast, &marked, items, "cell", 0, 32, NULL },
        { all, whole, &open, items, "cell", 0, 32, "whole, plain loop -O2" },
        { "whole, marks but no solids", whole, &marked, items, "cell", 0, 32, all },
        { "whole, 7 % solids", whole, &some, items, "cell", 0, 32, all },
        { "whole, 30 % solids", whole, &town, items, "cell", 0, 32, all },
        { "whole, two threads", whole, &two, items, "cell", 0, 32, all },
        { "whole, 20 SOR", whole, &sor, items, "cell", 0, 32, all },
        { "whole, direct compact", whole, &direct, items, "cell", 0, 32, all },
        { "whole, direct consistent", whole, &wide, items, "cell", 0, 32, all },
        { "whole, direct, two threads", whole, &direct_two, items, "cell", 0, 32, all },
        { "whole, multigrid 1, solids", whole, &grid1, items, "cell", 0, 32, all },
        { "whole, multigrid 2, solids", whole, &grid2, items, "cell", 0, 32, all },
        { "whole, multigrid 4, solids", whole, &grid4, items, "cell", 0, 32, all },
        { "whole, pcg 4, solids", whole, &cg4, items, "cell", 0, 32, all },
        { "whole, pcg 8, solids", whole, &cg8, items, "cell", 0, 32, all },
        { "whole, pcg 8, two threads", whole, &cg8_two, items, "cell", 0, 32, all },
    };
    return bench_main(argc, argv, cases, sizeof cases / sizeof *cases);
}
