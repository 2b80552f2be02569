#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "windgrove/cascade.h"

enum { LEVELS = 2, NX = 10, NY = 8, NZ = 6, CELLS = NX * NY * NZ };

typedef struct scene {
    wg_cascade cascade;
    wg_cascade_options options;
    wg_inflow inflow;
    float velocity[LEVELS][3 * CELLS], other[LEVELS][3 * CELLS], pressure[LEVELS][CELLS];
    uint8_t solid[LEVELS][CELLS];
} scene;

static void place(const double focus[3], int64_t low[LEVELS][3])
{
    const int32_t cells[3] = { NX - 2, NY - 2, NZ - 2 };
    CHECK(wg_cascade_place(focus, cells, LEVELS, 0.5, (double)NAN, &low[0][0]) == WG_OK);
}

static scene* make_scene(void)
{
    scene* s = calloc(1, sizeof *s);
    int64_t low[LEVELS][3];
    place((double[]){ 0.3, -1.2, 2.0 }, low);
    s->inflow.prevailing.velocity[0] = 5.0;
    s->inflow.prevailing.velocity[1] = -1.0;
    s->inflow.noise.scale = 1.0;
    s->options = (wg_cascade_options){ .dt = 1.0 / 30.0, .vorticity = 0.3 };
    s->cascade.level_count = LEVELS;
    for (int n = 0; n < LEVELS; ++n) {
        wg_grid* grid = &s->cascade.grid[n];
        *grid = (wg_grid){ .nx = NX,
                           .ny = NY,
                           .nz = NZ,
                           .spacing = 0.5 * (1 << n),
                           .velocity = s->velocity[n],
                           .pressure = s->pressure[n] };
        memcpy(grid->low, low[n], sizeof grid->low);
        s->cascade.other[n] = s->other[n];
        s->options.projection[n] = wg_project_defaults();
        wg_cascade_fill(grid, &s->inflow, NULL);
    }
    s->cascade.scratch = malloc(wg_cascade_scratch_size(&s->cascade, &s->options));
    return s;
}

static void free_scene(scene* s)
{
    free(s->cascade.scratch);
    free(s);
}

static double largest_change(const scene* s)
{
    double worst = 0.0;
    const float mean[3] = { 5.0f, -1.0f, 0.0f };
    for (int n = 0; n < LEVELS; ++n)
        for (int i = 0; i < 3 * CELLS; ++i) {
            const double change = fabs((double)(s->velocity[n][i] - mean[i / CELLS]));
            worst = change > worst ? change : worst;
        }
    return worst;
}

static void a_constant_wind_stays_constant_while_the_grids_move(void)
{
    scene* s = make_scene();
    const wg_cascade_forces none = { 0 };
    for (int step = 0; step < 20; ++step) {
        int64_t low[LEVELS][3];
        place((double[]){ 0.7 * step, sin(step), 2.0 + 0.2 * step }, low);
        wg_cascade_move(&s->cascade, &low[0][0], &s->inflow, NULL);
        CHECK(wg_cascade_step(&s->cascade, &s->options, &none, NULL, NULL) == WG_OK);
        CHECK(memcmp(s->cascade.grid[0].low, low[0], sizeof low[0]) == 0);
    }
    // 1e-6 relative of the largest component.
    CHECK(largest_change(s) <= 5e-6);
    free_scene(s);
}

static void a_move_keeps_what_both_places_cover(void)
{
    scene* s = make_scene();
    wg_grid* grid = &s->cascade.grid[1];
    for (int i = 0; i < 3 * CELLS; ++i)
        s->velocity[1][i] = (float)i;
    float before[3 * CELLS];
    memcpy(before, s->velocity[1], sizeof before);
    const int64_t to[3] = { grid->low[0] + 2, grid->low[1] - 1, grid->low[2] + 1 };
    wg_cascade_recentre(grid, to, NULL, &s->inflow, NULL);
    int same = 1, fresh = 1;
    for (int k = 1; k < NZ - 1; ++k)
        for (int j = 1; j < NY - 1; ++j)
            for (int i = 1; i < NX - 1; ++i) {
                const int at = (k * NY + j) * NX + i;
                const int kept = i + 2 < NX - 1 && j - 1 >= 1 && k + 1 < NZ - 1;
                const int from = ((k + 1) * NY + j - 1) * NX + i + 2;
                if (kept)
                    same &= s->velocity[1][at] == before[from];
                else
                    fresh &= s->velocity[1][at] == 5.0f;
            }
    CHECK(same);
    CHECK(fresh);
    // A move beyond the grid's own size exposes every cell.
    wg_cascade_recentre(grid, (int64_t[]){ 1000, 0, 0 }, NULL, &s->inflow, NULL);
    fresh = 1;
    for (int k = 1; k < NZ - 1; ++k)
        for (int i = 1; i < NX - 1; ++i)
            fresh &= s->velocity[1][(k * NY + 3) * NX + i] == 5.0f;
    CHECK(fresh);
    free_scene(s);
}

static void coarse_cells_leave_solid_fine_ones_out(void)
{
    scene* s = make_scene();
    wg_grid *fine = &s->cascade.grid[0], *coarse = &s->cascade.grid[1];
    fine->solid = s->solid[0];
    // The eight fine cells of the first coarse one: seven solid, one blowing with 3 m/s.
    for (int n = 0; n < 8; ++n) {
        const int at = ((1 + n / 4) * NY + 1 + n / 2 % 2) * NX + 1 + n % 2;
        s->solid[0][at] = n != 5;
        s->velocity[0][at] = n == 5 ? 3.0f : 99.0f;
    }
    // The next coarse cell has no air below.
    for (int n = 0; n < 8; ++n)
        s->solid[0][((1 + n / 4) * NY + 1 + n / 2 % 2) * NX + 3 + n % 2] = 1;
    const int i = (int)(fine->low[0] / 2 - coarse->low[0]) + 1;
    const int j = (int)(fine->low[1] / 2 - coarse->low[1]) + 1;
    const int k = (int)(fine->low[2] / 2 - coarse->low[2]) + 1;
    const int at = (k * NY + j) * NX + i;
    s->velocity[1][at + 1] = 7.0f;
    wg_cascade_restrict(coarse, fine, NULL);
    CHECK(s->velocity[1][at] == 3.0f);
    CHECK(s->velocity[1][at + 1] == 7.0f);
    CHECK(s->velocity[1][at + 2] == 5.0f);
    free_scene(s);
}

static void places_are_aligned_and_inside_their_parent(void)
{
    for (int n = 0; n < 500; ++n) {
        int64_t low[LEVELS][3];
        place((double[]){ 37.0 * sin(n), 0.31 * n - 70.0, cos(3 * n) }, low);
        const int32_t cells[3] = { NX - 2, NY - 2, NZ - 2 };
        for (int axis = 0; axis < 3; ++axis) {
            CHECK(low[0][axis] % 2 == 0);
            CHECK(low[0][axis] >= 2 * low[1][axis]);
            CHECK(low[0][axis] + cells[axis] <= 2 * (low[1][axis] + cells[axis]));
        }
    }
}

static void what_is_out_of_range_is_refused(void)
{
    int64_t low[LEVELS][3];
    const double here[3] = { 0 }, nowhere[3] = { 0.0, (double)NAN, 0.0 };
    const double nan = (double)NAN;
    CHECK(
        wg_cascade_place(nowhere, (int32_t[]){ 4, 4, 4 }, 2, 0.5, nan, &low[0][0]) == WG_ERR_VALUE);
    CHECK(wg_cascade_place(here, (int32_t[]){ 5, 4, 4 }, 2, 0.5, nan, &low[0][0]) == WG_ERR_VALUE);
    CHECK(wg_cascade_place(here, (int32_t[]){ 4, 4, 4 }, 0, 0.5, nan, &low[0][0]) == WG_ERR_VALUE);
    CHECK(wg_cascade_place(here, (int32_t[]){ 4, 4, 4 }, 2, 0.0, nan, &low[0][0]) == WG_ERR_VALUE);
    scene* s = make_scene();
    const wg_effector bad = { .radius = -1.0, .half_length = 1.0 };
    CHECK(wg_cascade_effect(&s->cascade.grid[0], &bad, 1, 0.1, NULL) == WG_ERR_VALUE);
    CHECK(largest_change(s) == 0.0);
    free_scene(s);
}

int main(void)
{
    a_constant_wind_stays_constant_while_the_grids_move();
    a_move_keeps_what_both_places_cover();
    coarse_cells_leave_solid_fine_ones_out();
    places_are_aligned_and_inside_their_parent();
    what_is_out_of_range_is_refused();
    return check_report();
}
