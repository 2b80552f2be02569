#include "support/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

// A thread looks for work this many times before it sleeps or yields: 15 to 50 microseconds, longer
// than the gap between two stages of a step, far shorter than a frame.
enum { SPIN_COUNT = 1000 };

typedef struct pool_job {
    wgi_range_function* function;
    void* context;
    size_t count, grain, blocks;
    int32_t helpers_wanted;
    atomic_size_t next_block;
} pool_job;

static pthread_mutex_t job_mutex = PTHREAD_MUTEX_INITIALIZER;   // held by the one running job
static pthread_mutex_t sleep_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the condition below
static pthread_cond_t wake_condition = PTHREAD_COND_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static pool_job job;
static atomic_uint generation;       // bumped to publish a job
static atomic_int helpers_left;      // helpers that have not yet left the published job
static int32_t helper_count;         // started so far; guarded by job_mutex
static atomic_uint start_generation; // the generation a new helper takes as already seen

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void run_blocks(void)
{
    for (;;) {
        const size_t block = atomic_fetch_add_explicit(&job.next_block, 1, memory_order_relaxed);
        if (block >= job.blocks)
            return;
        const size_t begin = block * job.grain;
        const size_t end = job.count - begin < job.grain ? job.count : begin + job.grain;
        job.function(begin, end, job.context);
    }
}

static unsigned wait_for_job(unsigned seen)
{
    for (int i = 0; i < SPIN_COUNT; ++i) {
        const unsigned now = atomic_load_explicit(&generation, memory_order_acquire);
        if (now != seen)
            return now;
        pause_cpu();
    }
    pthread_mutex_lock(&sleep_mutex);
    while (atomic_load_explicit(&generation, memory_order_acquire) == seen)
        pthread_cond_wait(&wake_condition, &sleep_mutex);
    const unsigned now = atomic_load_explicit(&generation, memory_order_acquire);
    pthread_mutex_unlock(&sleep_mutex);
    return now;
}

static void* helper_main(void* argument)
{
    const int32_t index = (int32_t)(intptr_t)argument;
    unsigned seen = atomic_load_explicit(&start_generation, memory_order_acquire);
    for (;;) {
        seen = wait_for_job(seen);
        if (index < job.helpers_wanted)
            run_blocks();
        atomic_fetch_sub_explicit(&helpers_left, 1, memory_order_acq_rel);
    }
    return NULL;
}

static void before_fork(void)
{
    pthread_mutex_lock(&job_mutex);
    pthread_mutex_lock(&sleep_mutex);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&sleep_mutex);
    pthread_mutex_unlock(&job_mutex);
}

static void after_fork_in_child(void)
{
    // Helpers do not exist in the child: forget them and start afresh on demand.
    pthread_mutex_init(&job_mutex, NULL);
    pthread_mutex_init(&sleep_mutex, NULL);
    pthread_cond_init(&wake_condition, NULL);
    helper_count = 0;
    atomic_store(&helpers_left, 0);
}

static void register_fork_handlers(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

// Starts helpers up to `wanted`; fewer where the system refuses a thread.
static void start_helpers(int32_t wanted)
{
    pthread_once(&fork_once, register_fork_handlers);
    atomic_store_explicit(
        &start_generation, atomic_load_explicit(&generation, memory_order_relaxed),
        memory_order_release);
    while (helper_count < wanted) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, helper_main, (void*)(intptr_t)helper_count) != 0)
            return;
        pthread_detach(thread);
        ++helper_count;
    }
}

static void publish_job(void)
{
    atomic_store_explicit(&helpers_left, helper_count, memory_order_relaxed);
    pthread_mutex_lock(&sleep_mutex);
    atomic_fetch_add_explicit(&generation, 1, memory_order_acq_rel);
    pthread_cond_broadcast(&wake_condition);
    pthread_mutex_unlock(&sleep_mutex);
}

// Yields in the end, so that a helper can be scheduled where threads outnumber processors.
static void wait_for_helpers(void)
{
    int spins = 0;
    while (atomic_load_explicit(&helpers_left, memory_order_acquire) != 0) {
        if (++spins < SPIN_COUNT)
            pause_cpu();
        else
            sched_yield();
    }
}

static void run_serially(size_t count, size_t grain, wgi_range_function* function, void* context)
{
    for (size_t begin = 0; begin < count; begin += grain)
        function(begin, count - begin < grain ? count : begin + grain, context);
}

void wgi_parallel_for(
    const wg_exec* exec, size_t count, size_t grain, wgi_range_function* function, void* context)
{
    const int32_t threads = exec ? exec->threads : 1;
    if (threads <= 1 || count <= grain || pthread_mutex_trylock(&job_mutex) != 0) {
        run_serially(count, grain, function, context);
        return;
    }

    const size_t blocks = (count + grain - 1) / grain;
    const int32_t useful = blocks < (size_t)threads ? (int32_t)blocks : threads;
    start_helpers(useful - 1);

    job.function = function;
    job.context = context;
    job.count = count;
    job.grain = grain;
    job.blocks = blocks;
    job.helpers_wanted = useful - 1;
    atomic_store_explicit(&job.next_block, 0, memory_order_relaxed);
    publish_job();
    run_blocks();
    wait_for_helpers();
    pthread_mutex_unlock(&job_mutex);
}
