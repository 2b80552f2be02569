#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "support/parallel.h"

enum { COUNT = 1003 };

static void add_one(size_t begin, size_t end, void* context)
{
    int* hits = context;
    for (size_t i = begin; i < end; ++i)
        ++hits[i];
}

static int each_is(const int* hits, int expected)
{
    for (int i = 0; i < COUNT; ++i)
        if (hits[i] != expected)
            return 0;
    return 1;
}

static void every_index_is_visited_once(void)
{
    int hits[COUNT];
    for (int threads = 1; threads <= 5; ++threads)
        for (size_t grain = 1; grain < 2000; grain = grain * 3 + 1) {
            memset(hits, 0, sizeof hits);
            const wg_exec exec = { .threads = threads };
            wgi_parallel_for(&exec, COUNT, grain, add_one, hits);
            CHECK(each_is(hits, 1));
        }
}

static void an_empty_range_calls_nothing(void)
{
    wgi_parallel_for(NULL, 0, 1, add_one, NULL);
    CHECK(1);
}

static void nest(size_t begin, size_t end, void* context)
{
    (void)begin;
    (void)end;
    const wg_exec exec = { .threads = 4 };
    wgi_parallel_for(&exec, COUNT, 10, add_one, context);
}

static void a_job_inside_a_job_runs(void)
{
    int hits[COUNT] = { 0 };
    nest(0, 1, hits);
    const wg_exec exec = { .threads = 2 };
    wgi_parallel_for(&exec, 1, 1, nest, hits);
    CHECK(each_is(hits, 2));
}

static void the_pool_survives_fork(void)
{
    const pid_t child = fork();
    if (child == 0) {
        int hits[COUNT] = { 0 };
        const wg_exec exec = { .threads = 3 };
        alarm(10);
        wgi_parallel_for(&exec, COUNT, 7, add_one, hits);
        _exit(each_is(hits, 1) ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    every_index_is_visited_once();
    an_empty_range_calls_nothing();
    a_job_inside_a_job_runs();
    the_pool_survives_fork();
    return check_report();
}
