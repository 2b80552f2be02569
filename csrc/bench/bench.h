// A small harness for benchmarks: named cases, interleaved rounds, quartiles, ratios in one run.
//
// Machines change their speed within minutes, so absolute times of different runs cannot be
// compared. Every round therefore measures every case once, in turn; ratios are taken round by round
// and their median is reported. The limits of the machine (peak of fused multiply-add, bandwidth of
// a copy) are cases like the others.
//
// A benchmark program fills an array of cases and returns bench_main(argc, argv, cases, count).
// Options: --rounds N (default 21), --filter TEXT (cases whose name contains it, their references
// and the limits), --csv (one line a case, for scripts), --cpu-time (processor time of the calling
// thread instead of wall time: for machines shared with others; says nothing of several threads),
// --against SET (every case also with that instruction set, in turn; the last column is how many
// times as long it takes; WINDGROVE_ISA names the first).
#pragma once

#include <stddef.h>

typedef struct bench_case {
    const char* name;
    void (*run)(void* state); ///< one call; it must do the same work each time
    void* state;
    double items;          ///< what a call handles: cells, branches, points
    const char* item;      ///< "cell"; NULL leaves the case out of the table (limits)
    double flops;          ///< floating-point operations an item, 0 where not counted
    double bytes;          ///< compulsory traffic an item, 0 where not counted
    const char* reference; ///< name of the case its speed is given against, or NULL
} bench_case;

int bench_main(int argc, char** argv, const bench_case* cases, size_t count);

/// Monotonic time in seconds.
double bench_now(void);

/// Keeps the compiler from dropping a result.
void bench_keep(const void* result);

/// A page-aligned, zeroed array of `bytes`; huge pages where the system gives them. Ends the program
/// where there is no memory.
void* bench_array(size_t bytes);

/// Next number of a fixed sequence, uniform in [-1, 1]: scenes are the same in every run.
double bench_random(void);

/// A fixed number of fused multiply-adds on eight lanes; 0 flops where the processor has none.
void bench_fma_peak(void* unused);
double bench_fma_flops(void);
