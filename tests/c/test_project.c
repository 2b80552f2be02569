// The contract of windgrove/project.h: statuses, scratch, work in place. The numbers are tested from
// Python against the twins.
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "windgrove/project.h"

enum { NX = 21, NY = 14, NZ = 9, CELLS = NX * NY * NZ, GUARD = 64 };

static float velocity[3 * CELLS], out[3 * CELLS], again[3 * CELLS], pressure[CELLS];
static uint8_t solid[CELLS];

static const int32_t pairs[][2] = {
    { WG_PROJECT_JACOBI, WG_COMPACT },    { WG_PROJECT_SOR, WG_COMPACT },
    { WG_PROJECT_MULTIGRID, WG_COMPACT }, { WG_PROJECT_PCG, WG_CONSISTENT },
    { WG_PROJECT_DIRECT, WG_COMPACT },    { WG_PROJECT_DIRECT, WG_CONSISTENT },
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static void fill(void)
{
    uint32_t state = 7;
    for (int n = 0; n < 3 * CELLS; ++n) {
        state = state * 1664525u + 1013904223u;
        velocity[n] = (float)(state >> 8) * 0x1p-23f - 1.0f;
    }
    memset(solid, 0, sizeof solid);
    for (int z = 0; z < 4; ++z)
        for (int y = 3; y < 8; ++y)
            for (int x = 5; x < 11; ++x)
                solid[(z * NY + y) * NX + x] = 1;
}

static wg_project_fields make_fields(const uint8_t* marks)
{
    return (wg_project_fields){ .nx = NX,
                                .ny = NY,
                                .nz = NZ,
                                .spacing = 0.5,
                                .velocity = velocity,
                                .solid = marks,
                                .pressure = pressure,
                                .out = out };
}

static wg_project_parameters make_parameters(int n)
{
    wg_project_parameters p = wg_project_defaults();
    p.method = pairs[n][0];
    p.discretisation = pairs[n][1];
    return p;
}

static void scratch_is_enough_and_may_have_any_alignment(void)
{
    for (int n = 0; n < PAIRS; ++n)
        for (size_t shift = 0; shift < 64; shift += 13) {
            const wg_project_parameters p = make_parameters(n);
            const wg_project_fields f = make_fields(p.method == WG_PROJECT_DIRECT ? NULL : solid);
            const size_t bytes = wg_project_scratch_size(NX, NY, NZ, &p, f.solid != NULL);
            unsigned char* memory = malloc(bytes + shift + GUARD);
            memset(memory, 0xa5, bytes + shift + GUARD);
            memset(pressure, 0, sizeof pressure);
            wg_project_result result;
            CHECK(bytes > 0);
            CHECK(wg_project(&f, &p, memory + shift, &result, NULL) == WG_OK);
            CHECK(result.residual < (p.method == WG_PROJECT_JACOBI ? 0.1 : 0.02));
            int kept = 1;
            for (size_t i = 0; i < shift; ++i)
                kept &= memory[i] == 0xa5;
            for (size_t i = 0; i < GUARD; ++i)
                kept &= memory[bytes + shift + i] == 0xa5;
            CHECK(kept);
            free(memory);
        }
}

// One cell of air in the ground, which no sweep reaches, under cells that one does.
static void sealed_air_in_a_dirty_scratch_changes_no_bit(void)
{
    static uint8_t ground[CELLS];
    for (int z = 0; z < NZ; ++z)
        for (int y = 0; y < NY; ++y)
            for (int x = 0; x < NX; ++x) {
                const bool cap = x == 5 && y == 6 && z == 4, hole = x == 5 && y == 6 && z == 3;
                ground[(z * NY + y) * NX + x] = (z <= 3 && !hole) || cap;
            }
    for (int n = 0; n < PAIRS; ++n) {
        const wg_project_parameters p = make_parameters(n);
        wg_project_fields f = make_fields(p.method == WG_PROJECT_DIRECT ? NULL : ground);
        const size_t bytes = wg_project_scratch_size(NX, NY, NZ, &p, f.solid != NULL);
        char* scratch = malloc(bytes);
        memset(pressure, 0, sizeof pressure);
        memset(scratch, 0, bytes);
        CHECK(wg_project(&f, &p, scratch, NULL, NULL) >= WG_OK);
        memset(scratch, 0xff, bytes);
        f.out = again;
        f.from_zero = true;
        for (int i = 0; i < CELLS; ++i)
            pressure[i] = (float)i;
        CHECK(wg_project(&f, &p, scratch, NULL, NULL) >= WG_OK);
        CHECK(memcmp(out, again, sizeof out) == 0);
        free(scratch);
    }
}

// What the scratch holds before the call must not show: once zeros, once not-a-numbers.
static void dirty_scratch_and_work_in_place_change_no_bit(void)
{
    for (int n = 0; n < PAIRS; ++n) {
        const wg_project_parameters p = make_parameters(n);
        wg_project_fields f = make_fields(p.method == WG_PROJECT_DIRECT ? NULL : solid);
        const size_t bytes = wg_project_scratch_size(NX, NY, NZ, &p, f.solid != NULL);
        char* scratch = malloc(bytes);
        f.pressure = NULL;
        memset(scratch, 0, bytes);
        CHECK(wg_project(&f, &p, scratch, NULL, NULL) == WG_OK);
        memset(scratch, 0xff, bytes);
        memcpy(again, velocity, sizeof again);
        f.velocity = f.out = again;
        CHECK(wg_project(&f, &p, scratch, NULL, &(wg_exec){ 3 }) == WG_OK);
        CHECK(memcmp(out, again, sizeof out) == 0);
        free(scratch);
    }
}

// A kept scratch saves the set-up and changes no bit, whatever marks come next.
// Rows of `nx` cells: the last eight of a row full or not. Half of the calls are measured.
static void a_kept_scratch_of_rows_changes_no_bit(int32_t nx)
{
    static uint8_t other[CELLS];
    memcpy(other, solid, sizeof other);
    for (int n = 4 * NX * NY; n < 5 * NX * NY; ++n)
        other[n] = n % 3 == 0;
    // One sealed cell, whose part of the right side no pressure can answer.
    for (int z = 5; z < 8; ++z)
        for (int y = 8; y < 11; ++y)
            for (int x = 9; x < 12; ++x)
                other[(z * NY + y) * nx + x] = z != 6 || y != 9 || x != 10;
    const uint8_t* const order[] = { solid, solid, other, other, other, NULL, other, solid, solid };
    for (int n = 0; n < PAIRS; ++n) {
        const wg_project_parameters p = make_parameters(n);
        const bool direct = p.method == WG_PROJECT_DIRECT;
        const size_t bytes = wg_project_scratch_size(nx, NY, NZ, &p, true);
        char *kept = calloc(bytes, 1), *fresh = malloc(bytes);
        for (size_t turn = 0; turn < sizeof order / sizeof *order; ++turn) {
            wg_project_fields f = make_fields(direct ? NULL : order[turn]);
            wg_project_result result[2] = { { 0 }, { 0 } };
            const bool measured = turn % 3 != 0;
            f.nx = nx;
            f.pressure = NULL;
            CHECK(wg_project(&f, &p, kept, measured ? &result[0] : NULL, NULL) == WG_OK);
            memset(fresh, 0, bytes);
            f.out = again;
            CHECK(wg_project(&f, &p, fresh, measured ? &result[1] : NULL, NULL) == WG_OK);
            CHECK(memcmp(out, again, sizeof out) == 0);
            CHECK(memcmp(&result[0], &result[1], sizeof *result) == 0);
        }
        free(kept);
        free(fresh);
    }
}

static void a_kept_scratch_changes_no_bit(void)
{
    a_kept_scratch_of_rows_changes_no_bit(NX);
    a_kept_scratch_of_rows_changes_no_bit(18);
}

// More slabs than one tile has, so that tiles and the gaps between them are at work, in a race
// detector too; 60 is no multiple of what a tile holds.
static void tiles_and_threads_change_no_bit(void)
{
    enum { MX = 12, MY = 62, MZ = 9, MANY = MX * MY * MZ };
    static const int32_t methods[][2] = { { WG_PROJECT_JACOBI, WG_COMPACT },
                                          { WG_PROJECT_SOR, WG_COMPACT },
                                          { WG_PROJECT_MULTIGRID, WG_COMPACT },
                                          { WG_PROJECT_PCG, WG_CONSISTENT } };
    static float wind[3 * MANY], seen[3 * MANY], first[3 * MANY], phi[MANY];
    static uint8_t marks[MANY];
    for (int n = 0; n < 3 * MANY; ++n)
        wind[n] = velocity[n % (3 * CELLS)] * (float)(1 + n % 5);
    for (int n = 0; n < MANY; ++n)
        marks[n] = n % MX > 3 && n % MX < 7 && n / MX % MY % 9 > 3 && n / (MX * MY) < 5;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; ++m) {
        wg_project_parameters p = wg_project_defaults();
        p.method = methods[m][0];
        p.discretisation = methods[m][1];
        p.iterations = 5;
        void* scratch = calloc(wg_project_scratch_size(MX, MY, MZ, &p, true), 1);
        const wg_project_fields f = { .nx = MX,
                                      .ny = MY,
                                      .nz = MZ,
                                      .spacing = 0.5,
                                      .velocity = wind,
                                      .solid = marks,
                                      .pressure = phi,
                                      .out = seen };
        for (int32_t threads = 1; threads <= 8; ++threads) {
            wg_project_result result;
            memset(phi, 0, sizeof phi);
            CHECK(wg_project(&f, &p, scratch, &result, &(wg_exec){ threads }) == WG_OK);
            if (threads == 1)
                memcpy(first, seen, sizeof first);
            CHECK(memcmp(first, seen, sizeof first) == 0);
        }
        free(scratch);
    }
}

static void expect(wg_status wanted, wg_project_fields f, wg_project_parameters p)
{
    memset(out, 0, sizeof out);
    CHECK(wg_project(&f, &p, NULL, NULL, NULL) == wanted);
    int untouched = 1;
    for (int n = 0; n < 3 * CELLS; ++n)
        untouched &= out[n] == 0.0f;
    CHECK(untouched);
}

static void errors_write_nothing(void)
{
    const wg_project_fields good = make_fields(solid);
    wg_project_fields f = good;
    wg_project_parameters p = wg_project_defaults();
    f.spacing = 0.0;
    expect(WG_ERR_VALUE, f, p);
    f.spacing = (double)NAN;
    expect(WG_ERR_VALUE, f, p);
    f = good;
    f.nx = 0;
    expect(WG_ERR_VALUE, f, p);
    p.iterations = 0;
    expect(WG_ERR_VALUE, good, p);
    p = wg_project_defaults();
    p.tolerance = -1.0;
    expect(WG_ERR_VALUE, good, p);
    p = wg_project_defaults();
    p.discretisation = WG_CONSISTENT;
    expect(WG_ERR_UNSUPPORTED, good, p);
    p.method = WG_PROJECT_DIRECT;
    expect(WG_ERR_UNSUPPORTED, good, p);
    p.method = 17;
    expect(WG_ERR_UNSUPPORTED, good, p);
    CHECK(wg_project_scratch_size(NX, NY, NZ, &p, false) == 0);
    p = wg_project_defaults();
    CHECK(wg_project_scratch_size(0, NY, NZ, &p, false) == 0);
}

static void a_cap_is_a_status_and_the_result_is_written(void)
{
    wg_project_parameters p = wg_project_defaults();
    p.tolerance = 1e-6;
    const wg_project_fields f = make_fields(solid);
    memset(pressure, 0, sizeof pressure);
    void* scratch = malloc(wg_project_scratch_size(NX, NY, NZ, &p, true));
    wg_project_result result;
    CHECK(wg_project(&f, &p, scratch, &result, NULL) == WG_NOT_CONVERGED);
    CHECK(result.iterations == 20 && result.residual > 1e-6 && result.residual < 0.1);
    CHECK(result.right_side > 0.5 && result.null_modes == 0 && result.null_part == 0.0);
    CHECK(memcmp(out, velocity, sizeof out) != 0);
    free(scratch);
}

static void a_tolerance_above_all_still_writes_every_cell(void)
{
    const wg_project_parameters loose = { .method = WG_PROJECT_PCG,
                                          .discretisation = WG_CONSISTENT,
                                          .iterations = 20,
                                          .tolerance = 2.0 };
    wg_project_fields f = make_fields(NULL);
    f.pressure = NULL;
    void* scratch = calloc(wg_project_scratch_size(NX, NY, NZ, &loose, false), 1);
    for (int n = 0; n < 3 * CELLS; ++n)
        out[n] = 1e6f;
    CHECK(wg_project(&f, &loose, scratch, NULL, NULL) == WG_OK);
    int written = 1;
    for (int n = 0; n < 3 * CELLS; ++n)
        written &= out[n] < 1e5f;
    CHECK(written);
    free(scratch);
}

static void divergence_of_a_ramp_is_its_slope(void)
{
    for (int z = 0; z < NZ; ++z)
        for (int y = 0; y < NY; ++y)
            for (int x = 0; x < NX; ++x) {
                const int n = (z * NY + y) * NX + x;
                velocity[n] = (float)x;
                velocity[CELLS + n] = 2.0f * (float)y;
                velocity[2 * CELLS + n] = -4.0f * (float)z;
            }
    wg_project_fields f = make_fields(NULL);
    f.pressure = NULL;
    CHECK(wg_divergence(&f, out) == WG_OK);
    int exact = 1;
    for (int z = 1; z < NZ - 1; ++z)
        for (int y = 1; y < NY - 1; ++y)
            for (int x = 1; x < NX - 1; ++x)
                exact &= out[(z * NY + y) * NX + x] == -2.0f;
    CHECK(exact);
    CHECK(out[0] == 0.0f && out[CELLS - 1] == 0.0f);
    f.spacing = -1.0;
    CHECK(wg_divergence(&f, out) == WG_ERR_VALUE);
}

int main(void)
{
    fill();
    scratch_is_enough_and_may_have_any_alignment();
    dirty_scratch_and_work_in_place_change_no_bit();
    sealed_air_in_a_dirty_scratch_changes_no_bit();
    a_kept_scratch_changes_no_bit();
    tiles_and_threads_change_no_bit();
    errors_write_nothing();
    a_cap_is_a_status_and_the_result_is_written();
    a_tolerance_above_all_still_writes_every_cell();
    divergence_of_a_ramp_is_its_slope();
    return check_report();
}
