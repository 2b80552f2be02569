// Classes of cells, kept while the marks stay the same.
#include <string.h>

#include "support/kernel_table.h"
#include "support/parallel.h"

// At the head of the memory. The address is part of it, so that a copied memory is found out anew.
typedef struct memory_head {
    uint64_t magic;
    int32_t nx, ny, nz;
    int32_t some; // whether any cell is solid
} memory_head;

enum { HEAD_BYTES = 64 };

static bool any_solid(const uint8_t* solid, size_t cells)
{
    // Equal to itself moved on by a byte: all are as the first.
    return solid[0] != 0 || memcmp(solid, solid + 1, cells - 1) != 0;
}

const uint8_t* wgi_flow_solid(const wg_flow_grid* grid)
{
    if (!grid->solid || !grid->classes)
        return grid->solid;
    memory_head head;
    memcpy(&head, grid->classes - HEAD_BYTES, sizeof head);
    return head.some ? grid->solid : NULL;
}

size_t wg_flow_classes_size(int32_t nx, int32_t ny, int32_t nz)
{
    if (!wgi_size_fits(nx, ny, nz, 3))
        return 0;
    return HEAD_BYTES + 3 * (size_t)nx * (size_t)ny * (size_t)nz;
}

wg_status wg_flow_classify(wg_flow_grid* grid, void* memory, const wg_exec* exec)
{
    if (!wgi_size_fits(grid->nx, grid->ny, grid->nz, 3))
        return WG_ERR_VALUE;
    grid->classes = NULL;
    if (!grid->solid)
        return WG_OK;
    memory_head head, wanted = { 0x666c6f77636c6173u ^ (uint64_t)(uintptr_t)memory, grid->nx,
                                 grid->ny, grid->nz, 0 };
    memcpy(&head, memory, sizeof head);
    const size_t cells = (size_t)grid->nx * (size_t)grid->ny * (size_t)grid->nz;
    uint8_t *classes = (uint8_t*)memory + HEAD_BYTES, *marks = classes + 2 * cells;
    const bool same = head.magic == wanted.magic && head.nx == wanted.nx && head.ny == wanted.ny &&
                      head.nz == wanted.nz && memcmp(marks, grid->solid, cells) == 0;
    if (!same) {
        const wgi_classify_job job = { grid->nx, grid->ny, grid->nz, grid->solid, classes };
        memcpy(marks, grid->solid, cells);
        wgi_parallel_for(
            exec, (size_t)grid->ny * (size_t)grid->nz, 64, wgi_kernels()->classify_rows,
            (void*)&job);
        wanted.some = any_solid(marks, cells);
        memcpy(memory, &wanted, sizeof wanted);
    }
    grid->classes = classes;
    return WG_OK;
}
