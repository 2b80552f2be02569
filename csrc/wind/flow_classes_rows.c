#include "wind/flow_classes.h"

#include "support/kernel_table.h"

// Border cells have no classes: nobody asks.
void WGI_ISA(classify_rows)(size_t begin, size_t end, void* context)
{
    const wgi_classify_job* job = context;
    const size_t nx = (size_t)job->nx, ny = (size_t)job->ny, nz = (size_t)job->nz;
    for (size_t n = begin; n < end; ++n) {
        uint8_t *sides = job->classes + n * nx, *corners = sides + nx * ny * nz;
        memset(sides, 0, nx);
        memset(corners, 0, nx);
        const size_t k = n / ny, j = n % ny;
        if (k == 0 || k == nz - 1 || j == 0 || j == ny - 1 || nx < 10)
            continue;
        wgi_classify_run(
            job->solid + n * nx + 1, (ptrdiff_t)nx, (ptrdiff_t)(nx * ny), job->nx - 2, sides + 1,
            corners + 1);
    }
}
