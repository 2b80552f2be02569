// The solvers of the projection, one file each. Every solver finds `right_side` and `phi` (the
// start) ready, leaves its answer in projection->phi, and uses what wgi_project_carve gave it.
#pragma once

#include "support/kernel_table.h"
#include "windgrove/project.h"

/// Hands out pieces of the scratch, each on a cache line. With base NULL it only counts.
typedef struct wgi_arena {
    char* base;
    size_t used;
} wgi_arena;

void* wgi_arena_take(wgi_arena* arena, size_t bytes);

/// Components of air that no ground reaches, see project_null.c.
typedef struct wgi_null {
    int32_t count;
    int32_t* component; // per entry of a solver array: its component, or -1
    double* sum;        // [components], work space
    int32_t* cells;     // [components], work space
} wgi_null;

/// Numbers the components; returns how many there are. `component` has grid.size entries, and so many
/// bytes has the work space.
int32_t wgi_null_find(const wgi_projection* p, int32_t* component, void* spare);

/// Takes the mean over each component out of a field in the solver's layout.
void wgi_null_remove(const wgi_null* null, const wgi_project_grid* g, float* field);

/// Multigrid on a lattice, see project_multigrid.c. [0] is the finest level.
enum { WGI_MULTIGRID_LEVELS = 20 };
typedef struct wgi_multigrid {
    int32_t level_count; // 0 where the lattice has no cell
    wgi_lattice level[WGI_MULTIGRID_LEVELS];
    wgi_halves solution, direction, image; // of conjugate gradients, finest level
    double* slab_sums[2];                  // [ny of the finest] each
    wgi_edges edges[2];                    // of two levels, while they are built
} wgi_multigrid;

/// At the head of the scratch: what earlier calls have built there, and for which marks.
typedef struct wgi_project_memory {
    uint64_t magic; // of a scratch at this address whose set-up is complete
    int32_t nx, ny, nz, method, discretisation;
    int32_t marked;     // whether there are marks
    int32_t has_faces;  // whether open faces were looked for
    int32_t null_count; // components found, -1 where they were not looked for
} wgi_project_memory;

/// Slabs `begin` to `end` - 1 of a grid whose plain Jacobi sweeps several threads share, and the array
/// that has their phi.
enum { WGI_MOST_BANDS = 16 };
typedef struct wgi_band {
    int32_t begin, end;
    float* phi;
} wgi_band;

/// One call of wg_project: what the solvers share.
typedef struct wgi_project_call {
    wgi_project_memory* memory;
    uint8_t* marks; // [nz][ny][nx] of the caller: the marks the set-up was made for
    bool reuse;     // the set-up of an earlier call holds: tables, lattices
    bool has_faces; // the open faces are known
    wgi_projection projection;
    wg_project_parameters parameters;
    const wg_exec* exec;
    bool measure;  // the residual is wanted
    int32_t bands; // 0 where phi is one field
    wgi_band band[WGI_MOST_BANDS];
    double* slab_sums;          // [ny]
    wgi_null null;              // count 0 where it was not looked for
    double norm;                // of h^2 div without its null part, over all cells
    wgi_direct direct;          // tables, where no cell is solid
    wgi_multigrid multigrid[8]; // [0] compact; [part] the eight lattices of the consistent form
    wg_project_result result;
} wgi_project_call;

/// Where a call works. What it keeps for later calls lies in `kept`; `work` may be shared with other
/// grids, and NULL is the place behind what is kept.
typedef struct wgi_project_place {
    void *kept, *work;
} wgi_project_place;

/// Bytes of either; both 0 where sizes or combination are not valid. Where a method cannot work
/// apart all of them are in `kept`.
void wgi_project_sizes(
    int32_t nx, int32_t ny, int32_t nz, const wg_project_parameters* parameters, bool solid,
    size_t size[2]);

/// Whether a method can work in a space that others use between its calls.
bool wgi_project_works_apart(const wg_project_parameters* parameters);

/// wg_project in two places.
wg_status wgi_project_in(
    const wg_project_fields* fields, const wg_project_parameters* parameters,
    wgi_project_place place, wg_project_result* result, const wg_exec* exec);

// project_setup.c: checks of a combination, places in the scratch, what earlier calls have left.
bool wgi_project_exists(const wg_project_parameters* parameters);
bool wgi_project_sizes_fit(int32_t nx, int32_t ny, int32_t nz);
bool wgi_project_numbers_fit(const wg_project_parameters* parameters);
void wgi_project_carve(wgi_project_call* call, wgi_project_place place);
void wgi_project_recall(wgi_project_call* call);
void wgi_project_remember(wgi_project_call* call);

/// Everything of wg_project before its solver, for benchmarks of the solvers alone.
void wgi_project_begin(
    wgi_project_call* call, const wg_project_fields* fields,
    const wg_project_parameters* parameters, void* scratch, const wg_exec* exec);

/// Plain Jacobi sweeps in one array, see project_skewed.c: sweeps of a pass, 0 where a grid does not fit
/// this way; all sweeps on one thread; the bands of several threads, if there are any, and theirs.
int32_t wgi_skewed_sweeps(const wgi_project_grid* g);
void wgi_project_sweep_skewed(wgi_project_call* call, int32_t count);
void wgi_project_choose_bands(wgi_project_call* call);
void wgi_project_sweep_bands(wgi_project_call* call, int32_t count);

/// Runs a kernel over all slabs, a few at a time or band by band.
typedef void wgi_slab_function(const wgi_projection* p, int32_t begin, int32_t end);
void wgi_project_over_slabs(const wgi_project_call* call, wgi_slab_function* kernel);

/// Norm of h^2 (div - lap phi), compact, for the phi at hand.
double wgi_project_residual_norm(wgi_project_call* call);

/// Norm of the right side as it is now.
double wgi_project_right_side_norm(wgi_project_call* call);

/// Norm of h^2 div of the velocity that came out, without its null part, consistent. From here on
/// the projection works on that velocity and its divergence.
double wgi_project_divergence_left(wgi_project_call* call);

/// Layout of a solver array for nx, ny, nz cells of the interior.
wgi_project_grid wgi_project_make_grid(int32_t nx, int32_t ny, int32_t nz);

/// Each of these iterates until the tolerance or the cap, sets result.iterations and
/// result.residual (where it is measured), and returns whether the tolerance, if any, was met.
bool wgi_project_sweeps(wgi_project_call* call); // jacobi and sor
bool wgi_project_multigrid(wgi_project_call* call);
bool wgi_project_pcg(wgi_project_call* call); // corrects the velocity itself
void wgi_multigrid_carve_compact(wgi_project_call* call, wgi_arena* arena);
void wgi_multigrid_carve_wide(wgi_project_call* call, wgi_arena* arena);

/// The direct solver, see project_direct.c: place for tables and work, tables (where `tables` says
/// that those of an earlier call are gone), a solution.
void wgi_direct_carve(wgi_direct* d, const wgi_projection* p, wgi_arena* kept, wgi_arena* work);
void wgi_direct_fill(wgi_direct* d, const wgi_projection* p, bool tables);
void wgi_direct_solve(wgi_direct* d, const wg_exec* exec, const float* in, float* solution);
