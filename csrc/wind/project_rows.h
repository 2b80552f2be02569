// Offsets in the caller's arrays, and the bytes that say which faces of a cell are open.
#pragma once

#include "support/simd.h"
#include "wind/project_grid.h"

/// A byte has bits 0 to 5 for the open faces low and high along x, y, z, and WGI_AIR.
enum { WGI_AIR = 0x40, WGI_ALL_OPEN = 0x7f };

WGI_INLINE uint64_t wgi_eight_bytes(const uint8_t* p)
{
    uint64_t b;
    memcpy(&b, p, sizeof b);
    return b;
}

typedef struct wgi_strides {
    size_t axis[3]; // of a neighbour along x, y, z in the caller's arrays
    size_t component;
} wgi_strides;

static inline wgi_strides wgi_caller_strides(const wgi_project_grid* g)
{
    const size_t row = (size_t)g->nx + 2, plane = row * ((size_t)g->ny + 2);
    return (wgi_strides){ { 1, row, plane }, plane * ((size_t)g->nz + 2) };
}

/// The first interior cell of a row; j and k count from 0 at the border.
static inline size_t wgi_caller_row(const wgi_strides* s, int32_t j, int32_t k)
{
    return (size_t)k * s->axis[2] + (size_t)j * s->axis[1] + 1;
}
