#include "bench.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "support/splitmix.h"
#include "windgrove/base.h"

// A measurement repeats short calls until it lasts this long, in seconds.
#define SHORTEST 4e-4
enum { MOST_ROUNDS = 999, COPY_BYTES = 32 << 20 };

typedef struct measured {
    int calls;                // a measurement
    double time[MOST_ROUNDS]; // seconds a call
} measured;

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_keep(const void* result)
{
    __asm__ volatile("" : : "r"(result) : "memory");
}

void* bench_array(size_t bytes)
{
    const size_t page = (size_t)2 << 20;
    void* array = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (!array) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
#ifdef MADV_HUGEPAGE
    madvise(array, (bytes + page - 1) / page * page, MADV_HUGEPAGE);
#endif
    memset(array, 0, bytes);
    return array;
}

double bench_random(void)
{
    static uint64_t state = 20;
    return (double)(wgi_splitmix64(&state) >> 11) * 0x1p-52 - 1.0;
}

static void copy_once(void* state)
{
    char* memory = state;
    memcpy(memory, memory + COPY_BYTES, COPY_BYTES);
    bench_keep(memory);
}

static clockid_t used_clock = CLOCK_MONOTONIC;

static double used_now(void)
{
    struct timespec t;
    clock_gettime(used_clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double measure(const bench_case* c, int calls)
{
    const double start = used_now();
    for (int n = 0; n < calls; ++n)
        c->run(c->state);
    return (used_now() - start) / calls;
}

static int by_size(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// Value at a share of the sorted `values`, which are copied first.
static double quantile(const double* values, int count, double share)
{
    double sorted[MOST_ROUNDS];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    const double at = share * (count - 1);
    const int low = (int)at, high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

// Median of (scale / b) / (1 / a), taken round by round.
static double median_ratio(const measured* a, const measured* b, int rounds, double scale)
{
    double ratio[MOST_ROUNDS];
    for (int n = 0; n < rounds; ++n)
        ratio[n] = scale * a->time[n] / b->time[n];
    return quantile(ratio, rounds, 0.5);
}

static void print_processor(void)
{
    char line[256];
    FILE* file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0) {
            printf("processor  %s", strchr(line, ':') + 2);
            break;
        }
    if (file)
        fclose(file);
}

static size_t find_case(const bench_case* cases, size_t count, const char* name)
{
    size_t n = 0;
    while (n < count && strcmp(cases[n].name, name) != 0)
        ++n;
    return n;
}

typedef struct run {
    const bench_case* cases; // the program's, then the two limits
    size_t count, fma, copy;
    measured* seen;
    measured* beside; // the same cases by another instruction set, or NULL
    const char* other;
    int rounds;
} run;

static void print_case(const run* r, size_t n, int csv)
{
    const bench_case* c = &r->cases[n];
    const measured* m = &r->seen[n];
    const double ns = 1e9 / c->items;
    const double middle = ns * quantile(m->time, r->rounds, 0.5);
    const double low = ns * quantile(m->time, r->rounds, 0.25);
    const double high = ns * quantile(m->time, r->rounds, 0.75);
    const size_t reference = c->reference ? find_case(r->cases, r->count, c->reference) : r->count;
    const double faster =
        reference == r->count
            ? (double)NAN
            : median_ratio(&r->seen[reference], m, r->rounds, c->items / r->cases[reference].items);
    const double of_peak = c->flops > 0.0 && r->cases[r->fma].items > 0.0
                               ? 100.0 * median_ratio(
                                             &r->seen[r->fma], m, r->rounds,
                                             c->flops * c->items / r->cases[r->fma].items)
                               : (double)NAN;
    const double of_copy = c->bytes > 0.0 ? 100.0 * median_ratio(
                                                        &r->seen[r->copy], m, r->rounds,
                                                        c->bytes * c->items / (2.0 * COPY_BYTES))
                                          : (double)NAN;
    const double over = r->beside ? median_ratio(&r->beside[n], m, r->rounds, 1.0) : (double)NAN;
    printf(
        csv ? "%s,%s,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g\n"
            : "%-34s %-7s %9.3f %9.3f %9.3f %10.1f %8.2f %8.1f %8.1f %8.3f\n",
        c->name, c->item, middle, low, high, middle * c->items * 1e-3, faster, of_peak, of_copy,
        over);
}

static void print_table(const run* r, int csv)
{
    if (!csv) {
        print_processor();
        printf("compiler   %s, %s, kernels %s\n", wg_compiler(), wg_build_type(), wg_isa_name());
        printf("commit     %s\n", BENCH_COMMIT);
        printf(
            "rounds     %d, %s\n", r->rounds,
            used_clock == CLOCK_MONOTONIC ? "wall time" : "processor time of the calling thread");
        printf(
            "fma peak   %.1f GFlop/s, copy %.1f GB/s (read and written)\n\n",
            1e-9 * r->cases[r->fma].items / quantile(r->seen[r->fma].time, r->rounds, 0.5),
            2e-9 * COPY_BYTES / quantile(r->seen[r->copy].time, r->rounds, 0.5));
        printf(
            "%-34s %-7s %9s %9s %9s %10s %8s %8s %8s %8s\n", "case", "item", "ns/item", "quarter",
            "3/4", "us/call", "x ref", "% peak", "% copy", r->other ? r->other : "-");
    }
    for (size_t n = 0; n < r->count; ++n)
        if (r->cases[n].item && r->seen[n].calls > 0)
            print_case(r, n, csv);
}

static void choose(const run* r, const char* filter)
{
    for (size_t n = 0; n < r->count; ++n) {
        const int wanted = !filter || strstr(r->cases[n].name, filter) || !r->cases[n].item;
        r->seen[n].calls = wanted || r->seen[n].calls;
        if (wanted && r->cases[n].reference) {
            const size_t other = find_case(r->cases, r->count, r->cases[n].reference);
            if (other < r->count)
                r->seen[other].calls = 1;
        }
    }
}

// One round: every chosen case and, in turn, the same by the other instruction set. The first of two
// would find the caches of another case: both have a call of their own before.
static void measure_round(const run* r, int round, const char* own)
{
    for (size_t n = 0; n < r->count; ++n) {
        if (r->seen[n].calls == 0)
            continue;
        if (!r->beside || !r->cases[n].item) {
            r->seen[n].time[round] = measure(&r->cases[n], r->seen[n].calls);
            continue;
        }
        for (int half = 0; half < 2; ++half) {
            const int others = (half + round) % 2;
            (void)wg_isa_force(others ? r->other : own);
            measure(&r->cases[n], 1);
            (others ? r->beside : r->seen)[n].time[round] = measure(&r->cases[n], r->seen[n].calls);
        }
        (void)wg_isa_force(own);
    }
}

int bench_main(int argc, char** argv, const bench_case* cases, size_t count)
{
    const char *filter = NULL, *other = NULL, *own = wg_isa_name();
    int rounds = 21, csv = 0;
    for (int n = 1; n < argc; ++n) {
        if (strcmp(argv[n], "--csv") == 0)
            csv = 1;
        else if (strcmp(argv[n], "--cpu-time") == 0)
            used_clock = CLOCK_THREAD_CPUTIME_ID;
        else if (strcmp(argv[n], "--rounds") == 0 && n + 1 < argc)
            rounds = atoi(argv[++n]);
        else if (strcmp(argv[n], "--filter") == 0 && n + 1 < argc)
            filter = argv[++n];
        else if (
            strcmp(argv[n], "--against") == 0 && n + 1 < argc &&
            wg_isa_force(argv[n + 1]) == WG_OK && wg_isa_force(own) == WG_OK)
            other = argv[++n];
        else {
            fprintf(
                stderr,
                "usage: %s [--rounds N] [--filter TEXT] [--csv] [--cpu-time] "
                "[--against INSTRUCTION_SET]\n",
                argv[0]);
            return 2;
        }
    }
    rounds = rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;

    bench_case* all = calloc(count + 2, sizeof *all);
    measured* seen = calloc(count + 2, sizeof *seen);
    measured* beside = other ? calloc(count + 2, sizeof *beside) : NULL;
    if (!all || !seen || (other && !beside))
        return 1;
    memcpy(all, cases, count * sizeof *all);
    all[count] =
        (bench_case){ "fma peak", bench_fma_peak, NULL, bench_fma_flops(), NULL, 0, 0, NULL };
    all[count + 1] =
        (bench_case){ "copy", copy_once, bench_array(2 * COPY_BYTES), 1.0, NULL, 0, 0, NULL };
    const run r = { all, count + 2, count, count + 1, seen, beside, other, rounds };

    choose(&r, filter);
    for (size_t n = 0; n < r.count; ++n)
        if (seen[n].calls > 0) {
            measure(&all[n], 1);
            seen[n].calls = 1 + (int)(SHORTEST / measure(&all[n], 1));
        }
    for (int round = 0; round < rounds; ++round)
        measure_round(&r, round, own);
    print_table(&r, csv);
    free(all);
    free(seen);
    free(beside);
    return 0;
}
