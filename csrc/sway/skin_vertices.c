// Skinning, the part over the vertices: eight at a time, whatever branches they hang on.
#include "support/kernel_table.h"
#include "sway/rotation.h"

typedef struct lanes3 {
    float x[WGI_LANES], y[WGI_LANES], z[WGI_LANES];
} lanes3;

static inline wgi_vec3 load(const lanes3* a)
{
    return (wgi_vec3){ wgf8_load(a->x), wgf8_load(a->y), wgf8_load(a->z) };
}

static inline void store(wgi_vec3 v, lanes3* a)
{
    wgf8_store(a->x, v.x);
    wgf8_store(a->y, v.y);
    wgf8_store(a->z, v.z);
}

typedef struct vertex_block {
    lanes3 arm; ///< from the pivot; afterwards the displacement
    lanes3 rotation, normal;
    float carry[4][WGI_LANES], inverse_length[WGI_LANES];
} vertex_block;

// The arm from the pivot is taken in double precision: a tree far from the origin loses nothing.
static void gather(const wgi_skin_job* job, size_t first, size_t count, vertex_block* block)
{
    for (size_t lane = 0; lane < WGI_LANES; ++lane) {
        const size_t v = first + (lane < count ? lane : count - 1);
        const wgi_skin_branch* b = job->branches + job->mesh->branch[v];
        const float* x = job->mesh->vertices + 3 * v;
        block->arm.x[lane] = (float)((double)x[0] - b->rest[0]);
        block->arm.y[lane] = (float)((double)x[1] - b->rest[1]);
        block->arm.z[lane] = (float)((double)x[2] - b->rest[2]);
        block->rotation.x[lane] = b->rotation[0];
        block->rotation.y[lane] = b->rotation[1];
        block->rotation.z[lane] = b->rotation[2];
        block->inverse_length[lane] = b->inverse_length;
        for (int k = 0; k < 4; ++k)
            block->carry[k][lane] = (float)b->carry[k];
        const float* n = job->mesh->normals ? job->mesh->normals + 3 * v : x;
        block->normal.x[lane] = n[0];
        block->normal.y[lane] = n[1];
        block->normal.z[lane] = n[2];
    }
}

static void turn(vertex_block* block)
{
    const wgi_vec3 arm = load(&block->arm);
    const wgf8 distance = wgf8_sqrt(wgi_vec3_dot(arm, arm));
    const wgf8 ratio = distance * wgf8_load(block->inverse_length), one = wgf8_set(1.0f);
    const wgf8 fade = wgf8_select(ratio > one, one, ratio);
    const wgi_quat own = wgi_quat_from_vector(wgi_vec3_scale(fade, load(&block->rotation)));
    const wgi_quat carry = { wgf8_load(block->carry[0]), wgf8_load(block->carry[1]),
                             wgf8_load(block->carry[2]), wgf8_load(block->carry[3]) };
    // Displacements, so that the rest pose keeps its bits.
    const wgi_vec3 bent = wgi_quat_displace(own, arm);
    const wgi_vec3 moved = wgi_quat_displace(carry, wgi_vec3_add(arm, bent));
    store(wgi_vec3_add(bent, moved), &block->arm);
    store(wgi_quat_rotate(carry, wgi_quat_rotate(own, load(&block->normal))), &block->normal);
}

static void scatter(const wgi_skin_job* job, size_t first, size_t count, const vertex_block* block)
{
    for (size_t lane = 0; lane < count; ++lane) {
        const size_t v = first + lane;
        const wgi_skin_branch* b = job->branches + job->mesh->branch[v];
        const float* rest = job->mesh->vertices + 3 * v;
        float* x = job->output->vertices + 3 * v;
        x[0] = (float)((double)rest[0] + (b->carried[0] - b->rest[0]) + (double)block->arm.x[lane]);
        x[1] = (float)((double)rest[1] + (b->carried[1] - b->rest[1]) + (double)block->arm.y[lane]);
        x[2] = (float)((double)rest[2] + (b->carried[2] - b->rest[2]) + (double)block->arm.z[lane]);
        if (!job->mesh->normals)
            continue;
        float* n = job->output->normals + 3 * v;
        n[0] = block->normal.x[lane];
        n[1] = block->normal.y[lane];
        n[2] = block->normal.z[lane];
    }
}

void WGI_ISA(skin_vertices)(const wgi_skin_job* job, size_t begin, size_t end)
{
    for (size_t first = begin; first < end; first += WGI_LANES) {
        const size_t count = end - first < WGI_LANES ? end - first : WGI_LANES;
        vertex_block block;
        gather(job, first, count, &block);
        turn(&block);
        scatter(job, first, count, &block);
    }
}
