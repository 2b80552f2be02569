// The prevailing wind at the border and in cells that come in from outside.
#include "windgrove/cascade.h"

#include <math.h>

#include "support/parallel.h"
#include "wind/grid.h"

double wg_profile_factor(const wg_prevailing* prevailing, double z)
{
    if (prevailing->profile == WG_PROFILE_NONE)
        return 1.0;
    const double above = z - prevailing->ground;
    if (!(above > 0.0))
        return above <= 0.0 ? 0.0 : (double)NAN;
    if (prevailing->profile == WG_PROFILE_POWER)
        return pow(above / prevailing->reference_height, prevailing->parameter);
    return log1p(above / prevailing->parameter) /
           log1p(prevailing->reference_height / prevailing->parameter);
}

// Perlin's gradients by the low four bits of the hash ("Improving Noise", 2002).
static const float gradients[16][3] = {
    { 1, 1, 0 },  { -1, 1, 0 },  { 1, -1, 0 }, { -1, -1, 0 }, { 1, 0, 1 },  { -1, 0, 1 },
    { 1, 0, -1 }, { -1, 0, -1 }, { 0, 1, 1 },  { 0, -1, 1 },  { 0, 1, -1 }, { 0, -1, -1 },
    { 1, 1, 0 },  { 0, -1, 1 },  { -1, 1, 0 }, { 0, -1, -1 },
};

// Along a line parallel to an axis the noise between two lattice nodes is a blend of two linear
// functions slope * t + value: the four corners of each node's plane are summed once per node.
typedef struct noise_node {
    float slope[3], value[3];
} noise_node;

typedef struct noise_line {
    const wg_border_noise* noise;
    int axis;           // of the line: 0 or 1
    double start, step; // lattice coordinate of the first cell's centre, and between cells
    int cell[3];        // lattice cell of the two other coordinates, 0..255
    float fraction[3];  // within that cell
    double floor;       // lattice node below the cell last asked for
    noise_node low, high;
} noise_line;

static float fade(float t)
{
    return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f);
}

static int lattice_index(double floored)
{
    return (int)(floored - 256.0 * floor(floored / 256.0)) & 255;
}

static noise_node node_at(const noise_line* line, double floored)
{
    noise_node node = { { 0 }, { 0 } };
    const int b = line->axis == 0 ? 1 : 0, c = 2;
    const float weight_b = fade(line->fraction[b]), weight_c = fade(line->fraction[c]);
    int index[3];
    index[line->axis] = lattice_index(floored);
    for (int corner = 0; corner < 4; ++corner) {
        const int db = corner & 1, dc = corner >> 1;
        index[b] = line->cell[b] + db;
        index[c] = line->cell[c] + dc;
        const float offset_b = line->fraction[b] - (float)db;
        const float offset_c = line->fraction[c] - (float)dc;
        const float weight = (db ? weight_b : 1.0f - weight_b) * (dc ? weight_c : 1.0f - weight_c);
        for (int n = 0; n < 3; ++n) {
            const uint8_t* p = line->noise->permutation[n].value;
            const int hash = p[p[p[index[0] & 255] + (index[1] & 255)] + (index[2] & 255)] & 15;
            const float* g = gradients[hash];
            node.slope[n] += weight * g[line->axis];
            node.value[n] += weight * (g[b] * offset_b + g[c] * offset_c);
        }
    }
    return node;
}

static noise_line
begin_line(const wg_border_noise* noise, int axis, const double first[3], double spacing)
{
    noise_line line = { .noise = noise, .axis = axis, .step = spacing / noise->scale };
    for (int n = 0; n < 3; ++n) {
        const double p = first[n] / noise->scale - noise->offset[n];
        const double floored = floor(p);
        line.cell[n] = lattice_index(floored);
        line.fraction[n] = (float)(p - floored);
        if (n == axis)
            line.start = p;
    }
    line.floor = (double)NAN;
    return line;
}

static void noise_at(noise_line* line, int32_t cell, float out[3])
{
    const double p = line->start + (double)cell * line->step;
    const double floored = floor(p);
    if (!(floored == line->floor)) {
        line->low = floored == line->floor + 1.0 ? line->high : node_at(line, floored);
        line->high = node_at(line, floored + 1.0);
        line->floor = floored;
    }
    const float t = (float)(p - floored), blend = fade(t);
    for (int n = 0; n < 3; ++n) {
        const float low = line->low.slope[n] * t + line->low.value[n];
        const float high = line->high.slope[n] * (t - 1.0f) + line->high.value[n];
        out[n] = low + blend * (high - low);
    }
}

void wgi_inflow_line(
    const wg_grid* grid, const wg_inflow* inflow, int axis, const int32_t from[3], int32_t count)
{
    const double factor = wg_profile_factor(&inflow->prevailing, wgi_grid_centre(grid, 2, from[2]));
    const double* mean = inflow->prevailing.velocity;
    const double speed = sqrt(mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]);
    const float amplitude = (float)(inflow->noise.strength * factor * speed);
    const float base[3] = { (float)(factor * mean[0]), (float)(factor * mean[1]),
                            (float)(factor * mean[2]) };

    const double first[3] = { wgi_grid_centre(grid, 0, from[0]), wgi_grid_centre(grid, 1, from[1]),
                              wgi_grid_centre(grid, 2, from[2]) };
    const size_t cells = wgi_grid_cells(grid), stride = axis == 0 ? 1 : (size_t)grid->nx;
    size_t at = wgi_grid_index(grid, from[0], from[1], from[2]);
    const bool noisy = amplitude != 0.0f;
    noise_line line;
    if (noisy)
        line = begin_line(&inflow->noise, axis, first, grid->spacing);
    for (int32_t i = 0; i < count; ++i, at += stride) {
        float n[3] = { 0 };
        if (noisy)
            noise_at(&line, i, n);
        if (grid->solid && grid->solid[at])
            continue;
        for (int c = 0; c < 3; ++c)
            grid->velocity[c * cells + at] = noisy ? base[c] + amplitude * n[c] : base[c];
    }
}

typedef struct inject_job {
    const wg_grid* grid;
    const wg_inflow* inflow;
    bool everywhere;
} inject_job;

static void inject_slabs(size_t begin, size_t end, void* context)
{
    const inject_job* job = context;
    const wg_grid* grid = job->grid;
    for (int32_t k = (int32_t)begin; k < (int32_t)end; ++k) {
        const bool whole = job->everywhere || k == 0 || k == grid->nz - 1;
        for (int32_t j = 0; j < grid->ny; j += whole ? 1 : grid->ny - 1)
            wgi_inflow_line(grid, job->inflow, 0, (int32_t[]){ 0, j, k }, grid->nx);
        if (whole)
            continue;
        for (int32_t i = 0; i < grid->nx; i += grid->nx - 1)
            wgi_inflow_line(grid, job->inflow, 1, (int32_t[]){ i, 1, k }, grid->ny - 2);
    }
}

void wg_cascade_inject(const wg_grid* grid, const wg_inflow* inflow, const wg_exec* exec)
{
    inject_job job = { grid, inflow, false };
    wgi_parallel_for(exec, (size_t)grid->nz, 1, inject_slabs, &job);
}

void wg_cascade_fill(const wg_grid* grid, const wg_inflow* inflow, const wg_exec* exec)
{
    inject_job job = { grid, inflow, true };
    wgi_parallel_for(exec, (size_t)grid->nz, 1, inject_slabs, &job);
}
