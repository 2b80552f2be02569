// The plain loops that everybody writes first: what the kernels' speed is given against.
// Compiled twice: textbook_plain_* at -O2 without the vectoriser, textbook_fast_* at -O3 for the
// processor level of the AVX2 kernels.
#pragma once

#include <stdint.h>

typedef struct textbook_grid {
    int nx, ny, nz;
    float h;
    const uint8_t* solid; // not read here
} textbook_grid;

#define TEXTBOOK_FUNCTIONS(level)                                                                  \
    void textbook_##level##_advect(                                                                \
        const textbook_grid* grid, const float* velocity, float dt, float* out);                   \
    void textbook_##level##_confine(                                                               \
        const textbook_grid* grid, const float* velocity, float dt, float epsilon, float* omega,   \
        float* size, float* out);

TEXTBOOK_FUNCTIONS(plain)
TEXTBOOK_FUNCTIONS(fast)
