// The flow functions without Python: contracts, errors that write nothing, closed forms.
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "windgrove/flow.h"
#include "windgrove/voxels.h"

enum { NX = 21, NY = 9, NZ = 7, CELLS = NX * NY * NZ };

static float velocity[3 * CELLS], out[3 * CELLS], scratch[3 * CELLS];
static const wg_flow_grid grid = { NX, NY, NZ, 0.5, NULL, NULL };

static void fill(float* values, int count, uint32_t seed)
{
    for (int n = 0; n < count; ++n) {
        seed = seed * 1664525u + 1013904223u;
        values[n] = (float)(seed >> 8) / 8388608.0f - 1.0f;
    }
}

static int all_equal(const float* values, int count, float expected)
{
    for (int n = 0; n < count; ++n)
        if (values[n] != expected)
            return 0;
    return 1;
}

static void an_error_writes_nothing(void)
{
    const wg_flow_grid thin = { 2, NY, NZ, 0.5, NULL, NULL },
                       flat = { NX, NY, NZ, 0.0, NULL, NULL };
    const wg_flow_grid huge = { WG_MAX_CELLS + 1, NY, NZ, 0.5, NULL, NULL };
    fill(velocity, 3 * CELLS, 1);
    for (int n = 0; n < 3 * CELLS; ++n)
        out[n] = 7.0f;
    const wg_flow_grid* bad[] = { &thin, &flat, &huge };
    for (int n = 0; n < 3; ++n) {
        CHECK(wg_advect(bad[n], velocity, 3, velocity, 0.1, out, NULL) == WG_ERR_VALUE);
        CHECK(wg_confine_vorticity(bad[n], velocity, 0.1, 0.3, out, NULL) == WG_ERR_VALUE);
    }
    CHECK(wg_advect(&grid, velocity, 0, velocity, 0.1, out, NULL) == WG_ERR_VALUE);
    CHECK(wg_advect(&grid, velocity, 3, velocity, -0.1, out, NULL) == WG_ERR_VALUE);
    CHECK(wg_advect(&grid, velocity, 3, velocity, (double)NAN, out, NULL) == WG_ERR_VALUE);
    CHECK(
        wg_advect_maccormack(&grid, velocity, 3, velocity, 0.0, scratch, out, NULL) ==
        WG_ERR_VALUE);
    CHECK(wg_confine_vorticity(&grid, velocity, 0.1, -0.3, out, NULL) == WG_ERR_VALUE);
    CHECK(wg_confine_vorticity(&grid, velocity, 1e300, 0.3, out, NULL) == WG_ERR_VALUE);
    CHECK(wg_confine_vorticity(&grid, velocity, 1e20, 1e20, out, NULL) == WG_ERR_VALUE);
    CHECK(wg_advect(&grid, velocity, 3, velocity, 1e300, out, NULL) == WG_ERR_VALUE);
    CHECK(wg_confine_vorticity(&grid, velocity, 0.1, (double)INFINITY, out, NULL) == WG_ERR_VALUE);
    CHECK(all_equal(out, 3 * CELLS, 7.0f));
}

// Every path (short, long, beside solids, MacCormack) leaves a constant alone.
static void a_constant_stays_to_the_bit(void)
{
    static float field[CELLS], moved[CELLS];
    static uint8_t solid[CELLS];
    for (int n = 0; n < CELLS; ++n) {
        field[n] = 6.1f;
        solid[n] = n % 13 == 0;
    }
    wg_flow_grid with = grid;
    for (float scale = 1.0f; scale < 300.0f; scale *= 4.0f) {
        fill(velocity, 3 * CELLS, 2);
        for (int n = 0; n < 3 * CELLS; ++n)
            velocity[n] *= scale;
        for (int walls = 0; walls < 2; ++walls) {
            with.solid = walls ? solid : NULL;
            CHECK(wg_advect(&with, field, 1, velocity, 1.0 / 30, moved, NULL) == WG_OK);
            CHECK(all_equal(moved, CELLS, 6.1f));
            CHECK(
                wg_advect_maccormack(&with, field, 1, velocity, 1.0 / 30, scratch, moved, NULL) ==
                WG_OK);
            CHECK(all_equal(moved, CELLS, 6.1f));
        }
    }
}

static void instruction_sets_agree(void)
{
    const char* before = wg_isa_name();
    static float first[3 * CELLS], corrected[3 * CELLS];
    fill(velocity, 3 * CELLS, 3);
    for (int n = 0; n < 3 * CELLS; ++n)
        velocity[n] *= 12.0f;
    const char* names[WG_MOST_ISAS];
    const int32_t count = wg_isa_names(names);
    CHECK(count >= 1 && strcmp(names[0], "scalar") == 0);
    for (int32_t n = 0; n < count; ++n) {
        float* result = n == 0 ? first : out;
        CHECK(wg_isa_force(names[n]) == WG_OK && strcmp(wg_isa_name(), names[n]) == 0);
        wg_advect(&grid, velocity, 3, velocity, 1.0 / 30, scratch, NULL);
        wg_confine_vorticity(&grid, scratch, 1.0 / 30, 0.5, result, NULL);
        wg_advect_maccormack(&grid, result, 3, result, 1.0 / 30, corrected, scratch, NULL);
        memcpy(result, scratch, sizeof out);
        CHECK(memcmp(first, result, sizeof out) == 0);
    }
    CHECK(wg_isa_force(before) == WG_OK && wg_isa_force("AVX2") == WG_ERR_VALUE);
}

// Kept classes save looking at the marks and change no bit, whatever marks come next.
static void kept_classes_change_no_bit(void)
{
    static uint8_t solid[3][CELLS];
    static float expected[3 * CELLS];
    static char memory[64 + 3 * CELLS];
    CHECK(wg_flow_classes_size(NX, NY, NZ) == sizeof memory);
    for (int n = 0; n < CELLS; ++n) {
        solid[0][n] = n % 13 == 0;
        solid[1][n] = n % NX > 3 && n % NX < 14 && n / NX % NY < 5;
    }
    const int order[] = { 0, 0, 1, 2, 1, 0 };
    for (float scale = 5.0f; scale < 300.0f; scale *= 4.0f)
        for (size_t turn = 0; turn < sizeof order / sizeof *order; ++turn) {
            fill(velocity, 3 * CELLS, 4);
            for (int n = 0; n < 3 * CELLS; ++n)
                velocity[n] *= scale;
            wg_flow_grid g = grid;
            g.solid = solid[order[turn]];
            for (int kept = 0; kept < 2; ++kept) {
                float* into = kept ? out : expected;
                if (kept)
                    CHECK(wg_flow_classify(&g, memory, NULL) == WG_OK && g.classes);
                wg_advect_maccormack(&g, velocity, 3, velocity, 1.0 / 30, into, scratch, NULL);
                wg_confine_vorticity(&g, scratch, 1.0 / 30, 0.5, into, NULL);
            }
            CHECK(memcmp(expected, out, sizeof out) == 0);
        }
    wg_flow_grid open = grid;
    CHECK(wg_flow_classify(&open, NULL, NULL) == WG_OK && !open.classes);
    open.nx = 2;
    CHECK(wg_flow_classify(&open, memory, NULL) == WG_ERR_VALUE);
}

static void uniform_wind_has_no_vorticity(void)
{
    for (int n = 0; n < 3 * CELLS; ++n)
        velocity[n] = n < CELLS ? 6.1f : -0.7f;
    CHECK(wg_confine_vorticity(&grid, velocity, 1.0 / 30, 3.0, out, NULL) == WG_OK);
    CHECK(memcmp(velocity, out, sizeof out) == 0);
}

static void a_ramp_is_sampled_exactly(void)
{
    static float ramp[CELLS];
    for (int n = 0; n < CELLS; ++n)
        ramp[n] = (float)(n % NX);
    const wg_field_view view = { NX, NY, NZ, 1, { -4.0, 0.0, 0.0 }, 0.5, ramp };
    const double points[9] = { -3.75, 1, 1, 0.0, 0.3, 2.9, 1e9, 0, 0 };
    float seen[3];
    CHECK(wg_sample(&view, points, 3, seen, NULL) == WG_OK);
    CHECK(seen[0] == 0.0f && seen[1] == 7.5f && seen[2] == (float)(NX - 1));
    wg_field_view bad = view;
    bad.spacing = -1.0;
    CHECK(wg_sample(&bad, points, 3, seen, NULL) == WG_ERR_VALUE);
    CHECK(seen[1] == 7.5f);
}

static void a_wind_without_grids_is_the_prevailing_wind(void)
{
    wg_wind_view wind = { .level_count = 0, .outside = { .velocity = { 6, 0, 1 } } };
    const double points[6] = { 0, 0, 0, 1e7, -1e7, 3 };
    float seen[6];
    CHECK(wg_wind_sample(&wind, points, 2, seen, NULL) == WG_OK);
    CHECK(seen[0] == 6.0f && seen[3] == 6.0f && seen[5] == 1.0f);
    wind.level_count = WG_MAX_LEVELS + 1;
    CHECK(wg_wind_sample(&wind, points, 2, seen, NULL) == WG_ERR_VALUE);
}

static int marked(const uint8_t* marks, int count)
{
    int sum = 0;
    for (int n = 0; n < count; ++n)
        sum += marks[n];
    return sum;
}

static void a_range_is_marked_like_the_whole_and_nothing_else(void)
{
    enum { N = 12 };
    static uint8_t whole[N * N * N], part[N * N * N];
    wg_voxel_grid cells = { N, N, N, { 0, 0, 0 }, 0.5, { 0, 0, 0 }, { N, N, N }, whole };
    const double centre[3] = { 2.9, 3.1, 3.0 };
    CHECK(wg_voxelize_sphere(&cells, centre, 2.0) == WG_OK);
    CHECK(marked(whole, N * N * N) > 200);
    cells.mark = part;
    for (int axis = 0; axis < 3; ++axis) {
        cells.begin[axis] = 2 + axis;
        cells.end[axis] = 9;
    }
    CHECK(wg_voxelize_sphere(&cells, centre, 2.0) == WG_OK);
    int agree = 1;
    for (int k = 0; k < N; ++k)
        for (int j = 0; j < N; ++j)
            for (int i = 0; i < N; ++i) {
                const int in = i >= 2 && i < 9 && j >= 3 && j < 9 && k >= 4 && k < 9;
                agree &= part[(k * N + j) * N + i] == (in ? whole[(k * N + j) * N + i] : 0);
            }
    CHECK(agree);
    cells.end[0] = N + 1;
    CHECK(wg_voxelize_sphere(&cells, centre, 2.0) == WG_ERR_VALUE);
    cells.end[0] = N;
    CHECK(wg_voxelize_sphere(&cells, centre, -2.0) == WG_ERR_VALUE);
    CHECK(wg_voxelize_box(&cells, centre, centre) == WG_ERR_VALUE);
}

static void a_bad_mesh_is_refused(void)
{
    enum { N = 4 };
    static uint8_t marks[N * N * N];
    static int32_t windings[N * N * N];
    const wg_voxel_grid cells = { N, N, N, { 0, 0, 0 }, 1.0, { 0, 0, 0 }, { N, N, N }, marks };
    double vertices[12] = { 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 3 };
    int32_t faces[12] = { 0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3 };
    wg_mesh mesh = { 4, 4, vertices, faces, WG_FILL_WINDING };
    CHECK(wg_voxelize_mesh(&cells, &mesh, windings) == WG_OK);
    CHECK(marks[0] == 1 && marks[(3 * N + 3) * N + 3] == 0);
    memset(marks, 0, sizeof marks);
    faces[4] = 4;
    CHECK(wg_voxelize_mesh(&cells, &mesh, windings) == WG_ERR_VALUE);
    faces[4] = 1;
    vertices[5] = (double)NAN;
    CHECK(wg_voxelize_mesh(&cells, &mesh, windings) == WG_ERR_VALUE);
    vertices[5] = 0.0;
    mesh.fill = 3;
    CHECK(wg_voxelize_mesh(&cells, &mesh, windings) == WG_ERR_VALUE);
    mesh.fill = WG_FILL_WINDING;
    vertices[5] = 1e200;
    CHECK(wg_voxelize_mesh(&cells, &mesh, windings) == WG_ERR_VALUE);
    CHECK(marked(marks, N * N * N) == 0);
}

int main(void)
{
    an_error_writes_nothing();
    a_constant_stays_to_the_bit();
    instruction_sets_agree();
    kept_classes_change_no_bit();
    uniform_wind_has_no_vorticity();
    a_ramp_is_sampled_exactly();
    a_wind_without_grids_is_the_prevailing_wind();
    a_range_is_marked_like_the_whole_and_nothing_else();
    a_bad_mesh_is_refused();
    return check_report();
}
