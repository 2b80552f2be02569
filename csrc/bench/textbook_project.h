// The plain loops of the pressure projection: what its speed is given against.
// Compiled at two levels, see textbook_flow.h.
#pragma once

#include <stdint.h>

typedef struct textbook_box {
    int nx, ny, nz; // with the border
    float h;
    const uint8_t* solid; // [nz][ny][nx], never NULL
} textbook_box;

#define TEXTBOOK_PROJECT_FUNCTIONS(level)                                                          \
    void textbook_##level##_divergence(                                                            \
        const textbook_box* box, const float* velocity, float* divergence);                        \
    void textbook_##level##_jacobi(                                                                \
        const textbook_box* box, const float* divergence, float* phi, float* other,                \
        int iterations);                                                                           \
    void textbook_##level##_subtract(                                                              \
        const textbook_box* box, const float* phi, const float* velocity, float* out);

TEXTBOOK_PROJECT_FUNCTIONS(plain)
TEXTBOOK_PROJECT_FUNCTIONS(fast)
