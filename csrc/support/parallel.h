// A small thread pool: blocks of a range are claimed by the caller and by helper threads.
#pragma once

#include "windgrove/base.h"

typedef void wgi_range_function(size_t begin, size_t end, void* context);

/// Calls `function` over [0, count) in blocks of `grain`, the last one shorter.
///
/// The blocks depend on `count` and `grain` alone, never on the number of threads, so a function
/// that writes only what belongs to its block gives the same bits whatever `exec` says. The caller
/// works too. One job runs at a time: a call from a second thread, or from inside a job, runs its
/// blocks on the calling thread. The pool starts at the first call that asks for more than one
/// thread and survives fork (the child starts with no helpers).
///
/// @param exec   NULL for one thread
/// @param grain  at least 1
void wgi_parallel_for(
    const wg_exec* exec, size_t count, size_t grain, wgi_range_function* function, void* context);
