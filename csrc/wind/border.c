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

// A block is a rectangle of cells in a plane: lines along one axis (`along`), stacked along another
// (`stack`), at one place on the third (`fixed`). On a line the noise between two lattice nodes is a
// blend of two linear functions slope * t + value; a node's two come from the lattice rows below and
// above the line, and those change only every few lines.
enum { BLOCK_CELLS = 64, BLOCK_NODES = BLOCK_CELLS + 3 };

typedef struct node_row {
    double floor; // lattice coordinate of the row along `stack`
    // Sums over the two corners along `fixed`: gradient along the line, along the stack, the rest.
    float along[3][BLOCK_NODES], stack[3][BLOCK_NODES], rest[3][BLOCK_NODES];
} node_row;

typedef struct noise_block {
    const wg_border_noise* noise;
    int along, stack, fixed;
    double first_node, stack_start, step; // lattice coordinates
    int fixed_cell;
    float fixed_fraction;
    int32_t cells, nodes;
    int32_t node[BLOCK_CELLS];                // of each cell of a line
    float t[BLOCK_CELLS], blend[BLOCK_CELLS]; // place between its two nodes, and faded
    node_row low, high;
} noise_block;

static float fade(float t)
{
    return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f);
}

static int lattice_index(double floored)
{
    const double rest = floored - 256.0 * floor(floored / 256.0);
    return rest >= 0.0 && rest < 256.0 ? (int)rest : 0; // also for what is not a number
}

static void sum_row(const noise_block* block, double floored, node_row* row)
{
    const float weight[2] = { 1.0f - fade(block->fixed_fraction), fade(block->fixed_fraction) };
    int index[3];
    row->floor = floored;
    index[block->stack] = lattice_index(floored);
    const int first = lattice_index(block->first_node);
    for (int32_t n = 0; n < block->nodes; ++n) {
        index[block->along] = (first + n) & 255;
        for (int c = 0; c < 3; ++c) {
            const uint8_t* p = block->noise->permutation[c].value;
            float along = 0.0f, stack = 0.0f, rest = 0.0f;
            for (int side = 0; side < 2; ++side) {
                index[block->fixed] = (block->fixed_cell + side) & 255;
                const float* g = gradients[p[p[p[index[0]] + index[1]] + index[2]] & 15];
                along += weight[side] * g[block->along];
                stack += weight[side] * g[block->stack];
                rest += weight[side] * g[block->fixed] * (block->fixed_fraction - (float)side);
            }
            row->along[c][n] = along;
            row->stack[c][n] = stack;
            row->rest[c][n] = rest;
        }
    }
}

// Lines at most BLOCK_CELLS long, and a lattice no finer than the cells.
static void
begin_block(noise_block* block, const wg_grid* grid, const int32_t from[3], int32_t cells)
{
    const wg_border_noise* noise = block->noise;
    const double spacing = grid->spacing / noise->scale;
    double start[3];
    for (int axis = 0; axis < 3; ++axis)
        start[axis] = wgi_grid_centre(grid, axis, from[axis]) / noise->scale - noise->offset[axis];
    const double fixed = floor(start[block->fixed]);
    block->fixed_cell = lattice_index(fixed);
    block->fixed_fraction = (float)(start[block->fixed] - fixed);
    block->stack_start = start[block->stack];
    block->step = spacing;
    block->first_node = floor(start[block->along]);
    block->cells = cells;
    for (int32_t i = 0; i < cells; ++i) {
        const double p = start[block->along] + (double)i * spacing - block->first_node;
        block->node[i] = p >= 0.0 && p < BLOCK_CELLS + 1 ? (int32_t)p : 0;
        block->t[i] = (float)(p - (double)block->node[i]);
        block->blend[i] = fade(block->t[i]);
    }
    block->nodes = block->node[cells - 1] + 2;
    block->low.floor = block->high.floor = (double)NAN;
}

static void begin_line(noise_block* block, int32_t line, float* fraction)
{
    const double p = block->stack_start + (double)line * block->step, floored = floor(p);
    *fraction = (float)(p - floored);
    if (floored == block->low.floor)
        return;
    if (floored == block->high.floor)
        block->low = block->high;
    else
        sum_row(block, floored, &block->low);
    sum_row(block, floored + 1.0, &block->high);
}

static void noise_line(noise_block* block, int32_t line, float out[3][BLOCK_CELLS])
{
    float f, slope[BLOCK_NODES], value[BLOCK_NODES];
    begin_line(block, line, &f);
    const float weight = fade(f);
    for (int c = 0; c < 3; ++c) {
        const node_row *low = &block->low, *high = &block->high;
        for (int32_t n = 0; n < block->nodes; ++n) {
            const float below = low->stack[c][n] * f + low->rest[c][n];
            const float above = high->stack[c][n] * (f - 1.0f) + high->rest[c][n];
            slope[n] = low->along[c][n] + weight * (high->along[c][n] - low->along[c][n]);
            value[n] = below + weight * (above - below);
        }
        for (int32_t i = 0; i < block->cells; ++i) {
            const int32_t n = block->node[i];
            const float t = block->t[i];
            const float left = slope[n] * t + value[n];
            const float right = slope[n + 1] * (t - 1.0f) + value[n + 1];
            out[c][i] = left + block->blend[i] * (right - left);
        }
    }
}

// A lattice finer than the cells shares nothing between cells.
static void fine_noise_line(
    const wg_grid* grid, const wg_border_noise* noise, int axis, const int32_t from[3],
    int32_t cells, float out[3][BLOCK_CELLS])
{
    for (int32_t i = 0; i < cells; ++i) {
        double p[3];
        for (int n = 0; n < 3; ++n)
            p[n] = wgi_grid_centre(grid, n, from[n] + (n == axis ? i : 0)) / noise->scale -
                   noise->offset[n];
        for (int c = 0; c < 3; ++c)
            out[c][i] = (float)wg_perlin_point(&noise->permutation[c], p[0], p[1], p[2]);
    }
}

static void write_line(
    const wg_grid* grid, const wg_inflow* inflow, int axis, const int32_t from[3], int32_t cells,
    double factor, float noise[3][BLOCK_CELLS])
{
    const double* mean = inflow->prevailing.velocity;
    const double speed = sqrt(mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]);
    const float amplitude = (float)(inflow->noise.strength * factor * speed);
    const size_t stride = axis == 0 ? 1 : (size_t)grid->nx;
    const size_t at = wgi_grid_index(grid, from[0], from[1], from[2]);
    const uint8_t* solid = grid->solid ? grid->solid + at : NULL;
    for (size_t c = 0; c < 3; ++c) {
        const float base = (float)(factor * mean[c]);
        float* out = grid->velocity + c * wgi_grid_cells(grid) + at;
        for (size_t i = 0; i < (size_t)cells; ++i) {
            const float value = noise ? base + amplitude * noise[c][i] : base;
            out[i * stride] = solid && solid[i * stride] ? out[i * stride] : value;
        }
    }
}

static void inflow_chunk(
    const wg_grid* grid, const wg_inflow* inflow, int along, int stack, const int32_t from[3],
    int32_t cells, int32_t lines)
{
    const wg_border_noise* noise = &inflow->noise;
    const bool noisy = noise->strength != 0.0, fine = noisy && grid->spacing > noise->scale;
    noise_block block;
    block.noise = noise;
    block.along = along;
    block.stack = stack;
    block.fixed = 3 - along - stack;
    if (noisy && !fine)
        begin_block(&block, grid, from, cells);
    float values[3][BLOCK_CELLS];
    int32_t start[3] = { from[0], from[1], from[2] };
    for (int32_t line = 0; line < lines; ++line) {
        start[stack] = from[stack] + line;
        const double factor =
            wg_profile_factor(&inflow->prevailing, wgi_grid_centre(grid, 2, start[2]));
        if (fine)
            fine_noise_line(grid, noise, along, start, cells, values);
        else if (noisy)
            noise_line(&block, line, values);
        write_line(grid, inflow, along, start, cells, factor, noisy ? values : NULL);
    }
}

void wgi_inflow_block(
    const wg_grid* grid, const wg_inflow* inflow, int along, int stack, const int32_t from[3],
    int32_t cells, int32_t lines)
{
    int32_t start[3] = { from[0], from[1], from[2] };
    for (int32_t done = 0; done < cells; done += BLOCK_CELLS) {
        const int32_t rest = cells - done;
        start[along] = from[along] + done;
        inflow_chunk(
            grid, inflow, along, stack, start, rest < BLOCK_CELLS ? rest : BLOCK_CELLS, lines);
    }
}

typedef struct inject_job {
    const wg_grid* grid;
    const wg_inflow* inflow;
} inject_job;

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

// The six faces as strips of lines: bottom and top whole, then the sides between them.
enum { STRIP_LINES = 16 };

static void inject_strips(size_t begin, size_t end, void* context)
{
    const inject_job* job = context;
    const wg_grid* g = job->grid;
    const int32_t wide = (g->ny + STRIP_LINES - 1) / STRIP_LINES;
    const int32_t high = (g->nz - 2 + STRIP_LINES - 1) / STRIP_LINES;
    for (int32_t strip = (int32_t)begin; strip < (int32_t)end; ++strip) {
        if (strip < 2 * wide) {
            const int32_t j = strip / 2 * STRIP_LINES, k = strip % 2 == 0 ? 0 : g->nz - 1;
            wgi_inflow_block(
                g, job->inflow, 0, 1, (int32_t[]){ 0, j, k }, g->nx,
                smaller(STRIP_LINES, g->ny - j));
            continue;
        }
        const int32_t side = (strip - 2 * wide) / high;
        const int32_t k = 1 + (strip - 2 * wide) % high * STRIP_LINES;
        const int32_t lines = smaller(STRIP_LINES, g->nz - 1 - k);
        if (side < 2)
            wgi_inflow_block(
                g, job->inflow, 0, 2, (int32_t[]){ 0, side == 0 ? 0 : g->ny - 1, k }, g->nx, lines);
        else
            wgi_inflow_block(
                g, job->inflow, 1, 2, (int32_t[]){ side == 2 ? 0 : g->nx - 1, 1, k }, g->ny - 2,
                lines);
    }
}

void wg_cascade_inject(const wg_grid* grid, const wg_inflow* inflow, const wg_exec* exec)
{
    inject_job job = { grid, inflow };
    const int32_t wide = (grid->ny + STRIP_LINES - 1) / STRIP_LINES;
    const int32_t high = (grid->nz - 2 + STRIP_LINES - 1) / STRIP_LINES;
    wgi_parallel_for(exec, (size_t)(2 * wide + 4 * high), 1, inject_strips, &job);
}

static void fill_slabs(size_t begin, size_t end, void* context)
{
    const inject_job* job = context;
    const wg_grid* g = job->grid;
    for (int32_t k = (int32_t)begin; k < (int32_t)end; ++k)
        wgi_inflow_block(g, job->inflow, 0, 1, (int32_t[]){ 0, 0, k }, g->nx, g->ny);
}

void wg_cascade_fill(const wg_grid* grid, const wg_inflow* inflow, const wg_exec* exec)
{
    inject_job job = { grid, inflow };
    wgi_parallel_for(exec, (size_t)grid->nz, 1, fill_slabs, &job);
}
