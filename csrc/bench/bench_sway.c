// Springs: forests of one specimen in all layouts, beside the loop one writes at first.
#include <math.h>
#include <string.h>

#include "bench.h"
#include "textbook_sway.h"
#include "windgrove/flow.h"
#include "windgrove/forest.h"

// 250 branches, 72 % of them leaves, depth 1 to 5, as the trees of the source.
enum { BRANCHES = 250, INNER = 70, PADDED = 256, TREES = 400, MILLION = 4000, SOURCE = 20000 };

typedef struct scene {
    double position[BRANCHES][3], direction[BRANCHES][3], length[BRANCHES];
    double mass[BRANCHES], stiffness[BRANCHES], damping[BRANCHES], drag[BRANCHES];
    int32_t parent[BRANCHES];
    void* specimen;
    float springs[3 * PADDED], frequency[PADDED];
    uint8_t kind[PADDED];
} scene;

static scene specimen;

static void make_branch(scene* s, int32_t i)
{
    const int32_t parent =
        i == 0 ? -1 : (int32_t)(0.999 * fabs(bench_random()) * (i < INNER ? i : INNER));
    double norm = 0.0;
    s->parent[i] = parent;
    s->length[i] = i == 0 ? 8.0 : i < INNER ? 1.0 + fabs(bench_random()) : 0.3;
    for (int axis = 0; axis < 3; ++axis) {
        s->direction[i][axis] = i == 0 ? axis == 2 : bench_random() + 0.3 * (axis == 2);
        norm += s->direction[i][axis] * s->direction[i][axis];
    }
    for (int axis = 0; axis < 3; ++axis) {
        s->direction[i][axis] /= sqrt(norm);
        s->position[i][axis] =
            parent < 0
                ? 0.0
                : s->position[parent][axis] + 0.8 * s->length[parent] * s->direction[parent][axis];
    }
    const double w = 6.28 * (i == 0 ? 0.3 : i < INNER ? 1.5 : 4.0);
    s->mass[i] = i == 0 ? 300.0 : i < INNER ? 5.0 : 0.05;
    s->stiffness[i] = s->mass[i] * w * w;
    s->damping[i] = 0.2 * s->mass[i] * w;
    s->drag[i] = 0.02 * s->stiffness[i];
    s->frequency[i] = (float)(w / 6.28);
    s->kind[i] = i == 0 ? 0 : i < INNER ? 1 : 2;
}

static void make_specimen(void)
{
    scene* s = &specimen;
    for (int32_t i = 0; i < BRANCHES; ++i)
        make_branch(s, i);
    const wg_branches branches = { BRANCHES, s->position[0], s->direction[0], s->length,
                                   s->parent };
    s->specimen = bench_array(wg_specimen_size(BRANCHES));
    const wg_springs springs = { s->mass, s->stiffness, s->damping, s->drag };
    const wg_spring_options options = { .dt = 1.0 / 30, .inertia = true, .relative_damping = true };
    if (wg_specimen_init(&branches, s->specimen) != WG_OK ||
        wg_forest_springs(BRANCHES, &springs, &options, s->springs) != WG_OK)
        __builtin_trap();
}

typedef struct forest_case {
    wg_forest forest;
    wg_packed packed;
    wg_forest_options options;
    wg_forest_wind wind;
    wg_wind_view view;
    float* cells[3];
    wg_exec exec;
    void* scratch;
    int32_t steps;
} forest_case;

static void run_forest(void* state)
{
    forest_case* c = state;
    wg_forest_fault fault;
    if (wg_forest_run(
            &c->forest, &c->options, &c->wind, c->steps, NULL, NULL, c->scratch, &fault,
            &c->exec) != WG_OK)
        __builtin_trap();
}

// The same as a wind that was just stepped is sampled: its grids are laid out for it first.
static void run_in_grids(void* state)
{
    forest_case* c = state;
    for (int32_t n = 0; n < c->view.level_count; ++n)
        if (wg_wind_cells(&c->view.level[n], c->cells[n], &c->exec) != WG_OK)
            __builtin_trap();
    run_forest(c);
}

static void place_trees(wg_forest* forest, int32_t trees)
{
    double* place = bench_array(3 * sizeof(double) * (size_t)trees);
    float* turn = bench_array(4 * sizeof(float) * (size_t)trees);
    float* scale = bench_array(sizeof(float) * (size_t)trees);
    uint32_t* key = bench_array(sizeof(uint32_t) * (size_t)trees);
    uint8_t* kinds = bench_array((size_t)trees);
    for (int32_t i = 0; i < trees; ++i) {
        place[3 * i] = 10.0 * bench_random();
        place[3 * i + 1] = 10.0 * bench_random();
        turn[4 * i] = 1.0f;
        scale[i] = 1.0f;
        key[i] = (uint32_t)i * 2654435761u;
        kinds[i] = 3;
    }
    forest->place = place;
    forest->turn = turn;
    forest->scale = scale;
    forest->key = key;
    forest->kinds = kinds;
}

// The source holds five million branches in 96 MiB.
static void check_size(size_t trees, size_t inner)
{
    const size_t bytes = trees * (15 * (size_t)PADDED + 6 * inner);
    if (trees == SOURCE && bytes > (size_t)96 << 20)
        __builtin_trap();
}

static void make_state(forest_case* c, bool packed)
{
    const size_t trees = (size_t)c->forest.instance_count;
    const size_t rows = 3 * sizeof(float) * PADDED * trees;
    const size_t inner = ((size_t)wg_specimen_inner_count(specimen.specimen) + 7) / 8 * 8;
    if (packed) {
        c->packed = (wg_packed){ bench_array(6 * PADDED * trees), bench_array(6 * inner * trees),
                                 bench_array(9 * PADDED * trees) };
        check_size(trees, inner);
        c->forest.packed = &c->packed;
        c->options.spring.torsion = false;
    } else {
        c->forest.rotation = bench_array(rows);
        c->forest.previous = bench_array(rows);
        c->forest.angular_velocity = bench_array(rows);
    }
}

// The nested grids of the source around the trees, a gust in them.
static void make_grids(wg_wind_view* view, float* cells_of[3])
{
    for (int32_t n = 0; n < 3; ++n) {
        const size_t cells = 50 * 50 * 18;
        float* velocity = bench_array(3 * cells * sizeof(float));
        for (size_t i = 0; i < 3 * cells; ++i)
            velocity[i] = (i < cells ? 6.0f : 0.0f) + (float)bench_random();
        const double h = 0.5 * (double)(1 << n);
        view->level[n] = (wg_grid_view){ 50, 50, 18, { -25 * h, -25 * h, -h }, h, velocity, NULL };
        cells_of[n] = bench_array(4 * cells * sizeof(float));
        if (wg_wind_cells(&view->level[n], cells_of[n], NULL) != WG_OK)
            __builtin_trap();
        view->level[n].cells = cells_of[n];
    }
    view->level_count = 3;
    view->outside.velocity[0] = 6.0;
}

static forest_case*
make_forest(int32_t trees, bool packed, bool nested, float noise, int32_t threads)
{
    forest_case* c = bench_array(sizeof *c);
    c->forest = (wg_forest){ .specimen = specimen.specimen,
                             .instance_count = trees,
                             .spring_sets = 1,
                             .springs = specimen.springs,
                             .frequency = specimen.frequency,
                             .kind = specimen.kind };
    place_trees(&c->forest, trees);
    c->options = (wg_forest_options){
        .spring = { .dt = 1.0 / 30, .inertia = true, .relative_damping = true, .torsion = true },
        .noise = noise,
        .reference_speed = 10.0f
    };
    make_state(c, packed);
    c->view.outside.velocity[0] = 6.0;
    if (nested)
        make_grids(&c->view, c->cells);
    c->wind = (wg_forest_wind){ .kind = WG_WIND_VIEW, .view = &c->view };
    c->exec.threads = threads;
    c->scratch = bench_array(wg_forest_scratch(BRANCHES, &c->exec));
    c->steps = trees == 1 ? 100 : 1;
    for (int i = 0; i < (trees > TREES ? 3 : 30); ++i)
        run_forest(c);
    return c;
}

static float* floats_of(const double* from, size_t count)
{
    float* out = bench_array(count * sizeof *out);
    for (size_t i = 0; i < count; ++i)
        out[i] = (float)from[i];
    return out;
}

static textbook_forest* make_textbook(void)
{
    textbook_forest* f = bench_array(sizeof *f);
    const size_t values = 3 * (size_t)BRANCHES * TREES / 10 * sizeof(float);
    *f = (textbook_forest){ .trees = TREES / 10,
                            .count = BRANCHES,
                            .parent = specimen.parent,
                            .position = floats_of(specimen.position[0], 3 * BRANCHES),
                            .direction = floats_of(specimen.direction[0], 3 * BRANCHES),
                            .length = floats_of(specimen.length, BRANCHES),
                            .mass = floats_of(specimen.mass, BRANCHES),
                            .stiffness = floats_of(specimen.stiffness, BRANCHES),
                            .damping = floats_of(specimen.damping, BRANCHES),
                            .drag = floats_of(specimen.drag, BRANCHES),
                            .now = bench_array(values),
                            .next = bench_array(values),
                            .before = bench_array(values),
                            .omega = bench_array(values),
                            .wind = { 6.0f, 0.0f, 0.0f },
                            .dt = 1.0f / 30 };
    return f;
}

static void run_plain(void* state)
{
    textbook_sway_step_plain(state);
}

static void run_fast(void* state)
{
    textbook_sway_step_fast(state);
}

// Variants of one tree in one wind, each with its own springs, sixty steps a call.
static forest_case* make_sweep(void)
{
    forest_case* c = make_forest(1000, false, false, 0.3f, 1);
    float* springs = bench_array(1000 * sizeof specimen.springs);
    float* frequency = bench_array(1000 * sizeof specimen.frequency);
    for (size_t n = 0; n < 1000; ++n) {
        memcpy(frequency + PADDED * n, specimen.frequency, sizeof specimen.frequency);
        for (size_t i = 0; i < 3 * PADDED; ++i)
            springs[3 * PADDED * n + i] = specimen.springs[i] * (0.8f + 0.0004f * (float)n);
    }
    c->forest.springs = springs;
    c->forest.frequency = frequency;
    c->forest.spring_sets = 1000;
    c->steps = 10;
    return c;
}

int main(int argc, char** argv)
{
    make_specimen();
    const double million = (double)MILLION * BRANCHES, five = (double)SOURCE * BRANCHES;
    const double all = (double)TREES * BRANCHES, few = all / 10, one = 100.0 * BRANCHES;
    const char* naive = "walk up, -O2";
    const bench_case cases[] = {
        { "fma peak", bench_fma_peak, NULL, 0, NULL, bench_fma_flops(), 0, NULL },
        { naive, run_plain, make_textbook(), few, "branch", 0, 0, NULL },
        { "walk up, -O3 v3", run_fast, make_textbook(), few, "branch", 0, 0, naive },
        { "one tree, 100 steps", run_forest, make_forest(1, false, false, 0, 1), one, "branch", 500,
          0, naive },
        { "400 trees", run_forest, make_forest(TREES, false, false, 0, 1), all, "branch", 500, 60,
          naive },
        { "400 trees, packed", run_forest, make_forest(TREES, true, false, 0, 1), all, "branch",
          500, 32, naive },
        { "400 trees, noise", run_forest, make_forest(TREES, false, false, 0.3f, 1), all, "branch",
          500, 60, naive },
        { "400 trees, nested wind", run_in_grids, make_forest(TREES, false, true, 0, 1), all,
          "branch", 500, 60, naive },
        { "400 trees, 2 threads", run_forest, make_forest(TREES, false, false, 0, 2), all, "branch",
          500, 60, naive },
        { "400 trees, packed, 2 threads", run_forest, make_forest(TREES, true, false, 0, 2), all,
          "branch", 500, 32, naive },
        { "million", run_forest, make_forest(MILLION, false, false, 0, 1), million, "branch", 500,
          60, naive },
        { "million, packed", run_forest, make_forest(MILLION, true, false, 0, 1), million, "branch",
          500, 32, naive },
        { "million, nested wind", run_in_grids, make_forest(MILLION, false, true, 0, 1), million,
          "branch", 500, 60, naive },
        { "million, packed, nested wind", run_in_grids, make_forest(MILLION, true, true, 0, 1),
          million, "branch", 500, 32, naive },
        { "million, 2 threads", run_forest, make_forest(MILLION, false, false, 0, 2), million,
          "branch", 500, 60, naive },
        { "million, packed, 2 threads", run_forest, make_forest(MILLION, true, false, 0, 2),
          million, "branch", 500, 32, naive },
        { "5 million packed in 96 MiB", run_forest, make_forest(SOURCE, true, false, 0, 2), five,
          "branch", 500, 32, naive },
        { "sweep of 1000, 10 steps", run_forest, make_sweep(), 1e4 * BRANCHES, "branch", 500, 0,
          naive },
    };
    return bench_main(argc, argv, cases, sizeof cases / sizeof *cases);
}
