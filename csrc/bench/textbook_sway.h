// The spring step as one writes it at first: every branch walks up and composes its chain, libm.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct textbook_forest {
    size_t trees;
    int32_t count; ///< branches of a tree
    const int32_t* parent;
    const float *position, *direction, *length;     ///< [count][3], [count][3], [count]
    const float *mass, *stiffness, *damping, *drag; ///< [count]
    float *now, *next, *before, *omega;             ///< [trees][count][3]
    float wind[3], dt;
} textbook_forest;

#define TEXTBOOK_STEP_(level) textbook_sway_step_##level
#define TEXTBOOK_STEP(level) TEXTBOOK_STEP_(level)

void textbook_sway_step_plain(textbook_forest* forest);
void textbook_sway_step_fast(textbook_forest* forest);
