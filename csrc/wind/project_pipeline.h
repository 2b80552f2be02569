// Several sweeps through the cache in one pass.
#pragma once

#include "windgrove/base.h"

typedef void wgi_stage_function(const void* context, int32_t stage, int32_t slab);

/// Runs `stages` stages on slabs 1 to `slabs`, each stage one slab behind the one before it, so that
/// what a stage has written is still in the cache when the next one reads it.
///
/// A stage may read slabs j - 1 to j + 1 and writes slab j, as a half sweep in place does; it finds
/// there what the stages before it have left, and nothing later. (Stages 0, 2...
/// may instead work on pairs of slabs when they come to the even one, and read those beside the
/// pair.) The result is that of whole stages one after another, for
/// every number of threads.
void wgi_pipeline(
    const wg_exec* exec, int32_t slabs, int32_t stages, wgi_stage_function* stage,
    const void* context);
