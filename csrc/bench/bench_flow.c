// Advection and vorticity confinement on the three grids of the default wind, in one run with the
// plain loops.
#include <math.h>
#include <string.h>

#include "bench.h"
#include "textbook_flow.h"
#include "windgrove/flow.h"

enum { LEVELS = 3, NX = 50, NY = 50, NZ = 18, CELLS = NX * NY * NZ, INNER = 48 * 48 * 16 };

typedef struct scene {
    float* velocity[LEVELS]; // [3][NZ][NY][NX]
    float* out[LEVELS];
    float *omega, *size;
    float* scratch;
    const uint8_t* solid;
    void* classes[LEVELS];
    int32_t threads;
} scene;

// A mean wind along x with eddies of all sizes, energy falling with the wave number to the power
// -5/3, or white noise of the same strength where `white`.
static void blow(float* velocity, double mean, double strength, int white)
{
    enum { WAVES = 40 };
    double wave[WAVES][3], amplitude[WAVES][3], phase[WAVES];
    for (int n = 0; n < WAVES; ++n) {
        const double k = 6.2832 / 48.0 * exp(log(12.0) * 0.5 * (1.0 + bench_random()));
        double w[3], a[3];
        for (int c = 0; c < 3; ++c) {
            w[c] = bench_random();
            a[c] = bench_random();
        }
        const double length = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
        for (int c = 0; c < 3; ++c) {
            wave[n][c] = k * w[c] / length;
            amplitude[n][c] = strength * a[c] * pow(k / 0.13, -1.0 / 3.0) / sqrt(WAVES / 6.0);
        }
        phase[n] = 3.1416 * bench_random();
    }
    for (int z = 0; z < NZ; ++z)
        for (int y = 0; y < NY; ++y)
            for (int x = 0; x < NX; ++x) {
                double u[3] = { mean, 0.0, 0.0 };
                for (int n = 0; n < WAVES && !white; ++n) {
                    const double s =
                        sin(wave[n][0] * x + wave[n][1] * y + wave[n][2] * z + phase[n]);
                    for (int c = 0; c < 3; ++c)
                        u[c] += amplitude[n][c] * s;
                }
                for (int c = 0; c < 3; ++c)
                    velocity[c * CELLS + (z * NY + y) * NX + x] =
                        (float)(u[c] + (white ? 1.7 * strength * bench_random() : 0.0));
            }
}

static scene make_scene(double mean, double strength, int white, const uint8_t* solid)
{
    scene s = { .solid = solid, .threads = 1 };
    for (int n = 0; n < LEVELS; ++n) {
        s.velocity[n] = bench_array(3 * CELLS * sizeof(float));
        s.out[n] = bench_array(3 * CELLS * sizeof(float));
        s.classes[n] = bench_array(wg_flow_classes_size(NX, NY, NZ));
        blow(s.velocity[n], mean, strength, white);
    }
    s.scratch = bench_array(3 * CELLS * sizeof(float));
    s.omega = bench_array(3 * CELLS * sizeof(float));
    s.size = bench_array(CELLS * sizeof(float));
    return s;
}

// Houses of `side` cells from the ground up with streets of `street` between them.
static uint8_t* build(int side, int street)
{
    uint8_t* solid = bench_array(CELLS);
    for (int z = 0; z < 11; ++z)
        for (int y = 1; y < NY - 1; ++y)
            for (int x = 1; x < NX - 1; ++x)
                solid[(z * NY + y) * NX + x] =
                    (x - 1) % (side + street) < side && (y - 1) % (side + street) < side;
    return solid;
}

// The same arrays, so that the caches hold as much of them, and other solids.
static scene among(const scene* open, const uint8_t* solid)
{
    scene s = *open;
    s.solid = solid;
    for (int n = 0; n < LEVELS; ++n)
        s.classes[n] = bench_array(wg_flow_classes_size(NX, NY, NZ));
    return s;
}

static const double spacing[LEVELS] = { 0.5, 1.0, 2.0 };

// With the classes that a step keeps.
static wg_flow_grid grid_of(const scene* s, int n)
{
    wg_flow_grid grid = { NX, NY, NZ, spacing[n], s->solid, NULL };
    (void)wg_flow_classify(&grid, s->classes[n], NULL);
    return grid;
}

static void advect(void* state)
{
    scene* s = state;
    const wg_exec exec = { s->threads };
    for (int n = 0; n < LEVELS; ++n) {
        const wg_flow_grid grid = grid_of(s, n);
        wg_advect(&grid, s->velocity[n], 3, s->velocity[n], 1.0 / 30, s->out[n], &exec);
    }
    bench_keep(s->out);
}

static void correct(void* state)
{
    scene* s = state;
    const wg_exec exec = { s->threads };
    for (int n = 0; n < LEVELS; ++n) {
        const wg_flow_grid grid = grid_of(s, n);
        wg_advect_maccormack(
            &grid, s->velocity[n], 3, s->velocity[n], 1.0 / 30, s->scratch, s->out[n], &exec);
    }
    bench_keep(s->out);
}

static void confine(void* state)
{
    scene* s = state;
    const wg_exec exec = { s->threads };
    for (int n = 0; n < LEVELS; ++n) {
        const wg_flow_grid grid = grid_of(s, n);
        wg_confine_vorticity(&grid, s->velocity[n], 1.0 / 30, 0.3, s->out[n], &exec);
    }
    bench_keep(s->out);
}

#define TEXTBOOK(level)                                                                            \
    static void advect_##level(void* state)                                                        \
    {                                                                                              \
        scene* s = state;                                                                          \
        for (int n = 0; n < LEVELS; ++n) {                                                         \
            const textbook_grid grid = { NX, NY, NZ, (float)spacing[n], NULL };                    \
            textbook_##level##_advect(&grid, s->velocity[n], 1.0f / 30, s->out[n]);                \
        }                                                                                          \
        bench_keep(s->out);                                                                        \
    }                                                                                              \
    static void confine_##level(void* state)                                                       \
    {                                                                                              \
        scene* s = state;                                                                          \
        for (int n = 0; n < LEVELS; ++n) {                                                         \
            const textbook_grid grid = { NX, NY, NZ, (float)spacing[n], NULL };                    \
            textbook_##level##_confine(                                                            \
                &grid, s->velocity[n], 1.0f / 30, 0.3f, s->omega, s->size, s->out[n]);             \
        }                                                                                          \
        bench_keep(s->out);                                                                        \
    }

TEXTBOOK(plain)
TEXTBOOK(fast)

int main(int argc, char** argv)
{
    // Each 28 to 30 % of the cells.
    const scene breeze = make_scene(6.0, 1.5, 0, NULL), white = make_scene(6.0, 1.5, 1, NULL);
    const scene storm = make_scene(22.0, 5.0, 0, NULL);
    const scene empty = among(&breeze, bench_array(CELLS));
    const scene houses = among(&breeze, build(6, 3)), blocks = among(&breeze, build(16, 8));
    scene two = breeze;
    two.threads = 2;
    const double items = LEVELS * (double)INNER;

    const bench_case cases[] = {
        { "advect, plain loop -O2", advect_plain, (void*)&breeze, items, "cell", 63, 24, NULL },
        { "advect, plain loop -O3", advect_fast, (void*)&breeze, items, "cell", 63, 24,
          "advect, plain loop -O2" },
        { "advect", advect, (void*)&breeze, items, "cell", 63, 24, "advect, plain loop -O2" },
        { "advect against -O3", advect, (void*)&breeze, items, "cell", 63, 24,
          "advect, plain loop -O3" },
        { "advect, two threads", advect, (void*)&two, items, "cell", 63, 24, "advect" },
        { "advect, marks but no solids", advect, (void*)&empty, items, "cell", 63, 24, "advect" },
        { "advect, 30 % in houses", advect, (void*)&houses, items, "cell", 63, 24, "advect" },
        { "advect, 30 % in blocks", advect, (void*)&blocks, items, "cell", 63, 24, "advect" },
        { "advect, white noise", advect, (void*)&white, items, "cell", 63, 24, "advect" },
        { "advect, storm", advect, (void*)&storm, items, "cell", 63, 24, "advect" },
        { "MacCormack", correct, (void*)&breeze, items, "cell", 132, 24, "advect" },
        { "MacCormack, marks but no solids", correct, (void*)&empty, items, "cell", 132, 24,
          "MacCormack" },
        { "MacCormack, 30 % in houses", correct, (void*)&houses, items, "cell", 132, 24,
          "MacCormack" },
        { "MacCormack, 30 % in blocks", correct, (void*)&blocks, items, "cell", 132, 24,
          "MacCormack" },
        { "confine, plain loop -O2", confine_plain, (void*)&breeze, items, "cell", 49, 24, NULL },
        { "confine, plain loop -O3", confine_fast, (void*)&breeze, items, "cell", 49, 24,
          "confine, plain loop -O2" },
        { "confine", confine, (void*)&breeze, items, "cell", 49, 24, "confine, plain loop -O2" },
        { "confine against -O3", confine, (void*)&breeze, items, "cell", 49, 24,
          "confine, plain loop -O3" },
        { "confine, two threads", confine, (void*)&two, items, "cell", 49, 24, "confine" },
        { "confine, marks but no solids", confine, (void*)&empty, items, "cell", 49, 24,
          "confine" },
        { "confine, 30 % in houses", confine, (void*)&houses, items, "cell", 49, 24, "confine" },
        { "confine, 30 % in blocks", confine, (void*)&blocks, items, "cell", 49, 24, "confine" },
    };
    return bench_main(argc, argv, cases, sizeof cases / sizeof *cases);
}
