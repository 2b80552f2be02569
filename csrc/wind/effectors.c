// Forces on the air: swung weapons, vortices, rotors, blasts, and the drag of trees.
#include <math.h>

#include "support/parallel.h"
#include "wind/grid.h"

typedef struct effect_job {
    const wg_grid* grid;
    const wg_effector* effector;
    double dt;
    int32_t low[3], high[3]; // interior cells that the effector can reach: [low, high)
} effect_job;

static double squared_falloff(double s_squared)
{
    const double rest = 1.0 - s_squared;
    return rest > 0.0 ? rest * rest : 0.0;
}

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double capsule_weight(const wg_effector* effector, const double point[3])
{
    double along[3], from[3];
    for (int n = 0; n < 3; ++n) {
        along[n] = effector->end[n] - effector->start[n];
        from[n] = point[n] - effector->start[n];
    }
    const double length_squared = dot3(along, along);
    double t = length_squared > 0.0 ? dot3(from, along) / length_squared : 0.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    double away[3];
    for (int n = 0; n < 3; ++n)
        away[n] = from[n] - t * along[n];
    return squared_falloff(dot3(away, away) / (effector->radius * effector->radius));
}

// Acceleration at a point; false where there is none.
static bool acceleration_at(const wg_effector* effector, const double point[3], double out[3])
{
    double weight, from[3];
    const double* axis = effector->direction;
    if (effector->kind == WG_EFFECTOR_LINEAR) {
        weight = effector->acceleration * capsule_weight(effector, point);
        for (int n = 0; n < 3; ++n)
            out[n] = weight * axis[n];
        return weight != 0.0;
    }
    for (int n = 0; n < 3; ++n)
        from[n] = point[n] - effector->start[n];
    const double z = dot3(from, axis);
    for (int n = 0; n < 3; ++n)
        from[n] -= z * axis[n];
    const double s_squared = dot3(from, from) / (effector->radius * effector->radius);
    weight = effector->acceleration * squared_falloff(s_squared) *
             squared_falloff(z * z / (effector->half_length * effector->half_length));
    if (weight == 0.0)
        return false;
    if (effector->kind == WG_EFFECTOR_DISC) {
        for (int n = 0; n < 3; ++n)
            out[n] = weight * axis[n];
        return true;
    }
    const double peak = 25.0 * sqrt(5.0) / 16.0 / effector->radius;
    out[0] = weight * peak * (axis[1] * from[2] - axis[2] * from[1]);
    out[1] = weight * peak * (axis[2] * from[0] - axis[0] * from[2]);
    out[2] = weight * peak * (axis[0] * from[1] - axis[1] * from[0]);
    return true;
}

static void effect_slabs(size_t begin, size_t end, void* context)
{
    const effect_job* job = context;
    const wg_grid* grid = job->grid;
    const size_t cells = wgi_grid_cells(grid);
    double point[3], a[3];
    for (int32_t k = job->low[2] + (int32_t)begin; k < job->low[2] + (int32_t)end; ++k) {
        point[2] = wgi_grid_centre(grid, 2, k);
        for (int32_t j = job->low[1]; j < job->high[1]; ++j) {
            point[1] = wgi_grid_centre(grid, 1, j);
            for (int32_t i = job->low[0]; i < job->high[0]; ++i) {
                const size_t at = wgi_grid_index(grid, i, j, k);
                point[0] = wgi_grid_centre(grid, 0, i);
                if ((grid->solid && grid->solid[at]) || !acceleration_at(job->effector, point, a))
                    continue;
                for (int c = 0; c < 3; ++c)
                    grid->velocity[(size_t)c * cells + at] += (float)(job->dt * a[c]);
            }
        }
    }
}

// Bounding box in cells; a cylinder's is that of the sphere around it.
static void reach_of(effect_job* job)
{
    const wg_grid* grid = job->grid;
    const wg_effector* effector = job->effector;
    const int32_t size[3] = { grid->nx, grid->ny, grid->nz };
    const bool capsule = effector->kind == WG_EFFECTOR_LINEAR;
    const double reach =
        capsule ? effector->radius : hypot(effector->radius, effector->half_length);
    for (int axis = 0; axis < 3; ++axis) {
        const double a = effector->start[axis], b = capsule ? effector->end[axis] : a;
        const double first = (fmin(a, b) - reach) / grid->spacing - (double)(grid->low[axis] - 1);
        const double last = (fmax(a, b) + reach) / grid->spacing - (double)(grid->low[axis] - 1);
        job->low[axis] = first > 1.0 ? (first < size[axis] ? (int32_t)first : size[axis] - 1) : 1;
        job->high[axis] =
            last < size[axis] - 2 ? (last > 0.0 ? (int32_t)last + 1 : 1) : size[axis] - 1;
    }
}

static bool is_valid(const wg_effector* effector)
{
    double sum = effector->radius + effector->half_length + effector->acceleration;
    for (int n = 0; n < 3; ++n)
        sum += effector->start[n] + effector->end[n] + effector->direction[n];
    return isfinite(sum) && effector->radius > 0.0 && effector->half_length > 0.0 &&
           effector->kind >= WG_EFFECTOR_LINEAR && effector->kind <= WG_EFFECTOR_DISC;
}

wg_status wg_cascade_effect(
    const wg_grid* grid, const wg_effector* effector, int32_t count, double dt, const wg_exec* exec)
{
    for (int32_t n = 0; n < count; ++n)
        if (!is_valid(&effector[n]))
            return WG_ERR_VALUE;
    for (int32_t n = 0; n < count; ++n) {
        effect_job job = { .grid = grid, .effector = &effector[n], .dt = dt };
        reach_of(&job);
        if (job.high[0] > job.low[0] && job.high[1] > job.low[1] && job.high[2] > job.low[2])
            wgi_parallel_for(exec, (size_t)(job.high[2] - job.low[2]), 1, effect_slabs, &job);
    }
    return WG_OK;
}

typedef struct blast_job {
    const wg_grid* grid;
    const wg_blast* blast;
    double factor;
} blast_job;

static void blast_slabs(size_t begin, size_t end, void* context)
{
    const blast_job* job = context;
    const wg_grid* grid = job->grid;
    const size_t cells = wgi_grid_cells(grid);
    const double radius = job->blast->radius;
    const double over_radius = job->factor * job->blast->speed / radius;
    double from[3];
    for (int32_t k = (int32_t)begin; k < (int32_t)end; ++k) {
        from[2] = wgi_grid_centre(grid, 2, k) - job->blast->centre[2];
        for (int32_t j = 0; j < grid->ny; ++j) {
            from[1] = wgi_grid_centre(grid, 1, j) - job->blast->centre[1];
            for (int32_t i = 0; i < grid->nx; ++i) {
                from[0] = wgi_grid_centre(grid, 0, i) - job->blast->centre[0];
                const double s2 = dot3(from, from) / (radius * radius);
                // velocity / r: (5 - 3 s^2) / 2 inside, 1 / s^3 outside, times speed / radius
                const double shape = s2 < 1.0 ? 0.5 * (5.0 - 3.0 * s2) : 1.0 / (s2 * sqrt(s2));
                const size_t at = wgi_grid_index(grid, i, j, k);
                for (int c = 0; c < 3; ++c)
                    grid->velocity[(size_t)c * cells + at] +=
                        (float)(over_radius * shape * from[c]);
            }
        }
    }
}

void wg_cascade_add_blast(
    const wg_grid* grid, const wg_blast* blast, double factor, const wg_exec* exec)
{
    blast_job job = { grid, blast, factor };
    wgi_parallel_for(exec, (size_t)grid->nz, 1, blast_slabs, &job);
}

typedef struct drag_job {
    const wg_grid* grid;
    const float* rate;
    double dt;
} drag_job;

static void drag_slabs(size_t begin, size_t end, void* context)
{
    const drag_job* job = context;
    const wg_grid* grid = job->grid;
    const size_t cells = wgi_grid_cells(grid);
    const float dt = (float)job->dt;
    for (int32_t k = (int32_t)begin + 1; k < (int32_t)end + 1; ++k)
        for (int32_t j = 1; j < grid->ny - 1; ++j) {
            const size_t row = wgi_grid_index(grid, 0, j, k);
            for (int32_t i = 1; i < grid->nx - 1; ++i) {
                const size_t at = row + (size_t)i;
                if (job->rate[at] == 0.0f || (grid->solid && grid->solid[at]))
                    continue;
                const float keep = 1.0f / (1.0f + dt * job->rate[at]);
                for (int c = 0; c < 3; ++c)
                    grid->velocity[(size_t)c * cells + at] *= keep;
            }
        }
}

void wg_cascade_drag(const wg_grid* grid, const float* rate, double dt, const wg_exec* exec)
{
    drag_job job = { grid, rate, dt };
    wgi_parallel_for(exec, (size_t)(grid->nz - 2), 1, drag_slabs, &job);
}
