// Classes of cells, kept while the marks stay the same.
#include <string.h>

#include "support/kernel_table.h"
#include "support/parallel.h"

// At the head of the memory. The address is part of it, so that a copied memory is found out anew.
typedef struct memory_head {
    uint64_t magic;
    int32_t nx, ny, nz;
} memory_head;

enum { HEAD_BYTES = 64 };

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
    const memory_head wanted = { 0x666c6f77636c6173u ^ (uint64_t)(uintptr_t)memory, grid->nx,
                                 grid->ny, grid->nz };
    memory_head head;
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
        memcpy(memory, &wanted, sizeof wanted);
    }
    grid->classes = classes;
    return WG_OK;
}
