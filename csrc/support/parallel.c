#include "support/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

// A thread looks for work this many times before it sleeps or yields: 15 to 50 microseconds, longer
// than the gap between two stages of a step, far shorter than a frame.
enum { SPIN_COUNT = 1000 };

enum { MOST_THREADS = 64, CACHE_LINE = 64 };

// One thread's share of the blocks: whoever is done with its own goes on with another's.
typedef struct pool_share {
    _Alignas(CACHE_LINE) atomic_size_t next;
    size_t end;
} pool_share;

typedef struct pool_job {
    wgi_range_function* function;
    void* context;
    size_t count, grain;
    int32_t threads; // that may take part
    pool_share share[MOST_THREADS];
} pool_job;

static pthread_mutex_t job_mutex = PTHREAD_MUTEX_INITIALIZER;   // held by the one running job
static pthread_mutex_t sleep_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the condition below
static pthread_cond_t wake_condition = PTHREAD_COND_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

// The gate counts the helpers inside the job in its low half; the high half is the job's number,
// doubled, and 1 more where the job is closed. A helper that comes when the work is done finds it
// closed: nobody waits for threads that the system has not yet given a processor.
enum { GATE_SHIFT = 32 };
static const uint64_t gate_closed = (uint64_t)1 << GATE_SHIFT;

static pool_job job;
static _Alignas(CACHE_LINE) _Atomic uint64_t gate = (uint64_t)1 << GATE_SHIFT;
static _Alignas(CACHE_LINE) atomic_int sleepers;
static int32_t helper_count; // started so far; guarded by job_mutex

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static uint32_t job_number(uint64_t state)
{
    return (uint32_t)(state >> (GATE_SHIFT + 1));
}

static void run_share(pool_share* share)
{
    for (;;) {
        const size_t block = atomic_fetch_add_explicit(&share->next, 1, memory_order_relaxed);
        if (block >= share->end)
            return;
        const size_t begin = block * job.grain;
        const size_t end = job.count - begin < job.grain ? job.count : begin + job.grain;
        job.function(begin, end, job.context);
    }
}

static void run_blocks(int32_t thread)
{
    for (int32_t n = 0; n < job.threads; ++n)
        run_share(&job.share[(thread + n) % job.threads]);
}

// Until there is a job with another number than `seen`.
static uint64_t wait_for_job(uint32_t seen)
{
    for (int i = 0; i < SPIN_COUNT; ++i) {
        const uint64_t now = atomic_load_explicit(&gate, memory_order_acquire);
        if (job_number(now) != seen)
            return now;
        pause_cpu();
    }
    pthread_mutex_lock(&sleep_mutex);
    // Either this is seen by whoever publishes next, or that job is seen here.
    atomic_fetch_add(&sleepers, 1);
    while (job_number(atomic_load(&gate)) == seen)
        pthread_cond_wait(&wake_condition, &sleep_mutex);
    atomic_fetch_sub(&sleepers, 1);
    pthread_mutex_unlock(&sleep_mutex);
    return atomic_load_explicit(&gate, memory_order_acquire);
}

static bool enter_job(uint64_t state)
{
    const uint32_t number = job_number(state);
    while (job_number(state) == number && !(state & gate_closed))
        if (atomic_compare_exchange_weak_explicit(
                &gate, &state, state + 1, memory_order_acquire, memory_order_acquire))
            return true;
    return false;
}

static void* helper_main(void* argument)
{
    const int32_t thread = (int32_t)(intptr_t)argument;
    uint32_t seen = 0;
    for (;;) {
        const uint64_t state = wait_for_job(seen);
        seen = job_number(state);
        if (!enter_job(state))
            continue;
        if (thread < job.threads)
            run_blocks(thread);
        atomic_fetch_sub_explicit(&gate, 1, memory_order_release);
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
    atomic_store(&sleepers, 0);
}

static void register_fork_handlers(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

// Starts helpers up to `wanted`; fewer where the system refuses a thread.
static void start_helpers(int32_t wanted)
{
    pthread_once(&fork_once, register_fork_handlers);
    while (helper_count < wanted) {
        pthread_t thread;
        void* index = (void*)(intptr_t)(helper_count + 1);
        if (pthread_create(&thread, NULL, helper_main, index) != 0)
            return;
        pthread_detach(thread);
        ++helper_count;
    }
}

static void deal_blocks(size_t blocks, int32_t threads)
{
    job.threads = threads;
    for (int32_t n = 0; n < threads; ++n) {
        const size_t t = (size_t)n, of = (size_t)threads;
        atomic_store_explicit(&job.share[n].next, blocks * t / of, memory_order_relaxed);
        job.share[n].end = blocks * (t + 1) / of;
    }
}

static void open_job(void)
{
    const uint64_t number = (uint64_t)job_number(atomic_load(&gate)) + 1;
    atomic_store(&gate, number << (GATE_SHIFT + 1));
    if (atomic_load(&sleepers) == 0)
        return;
    pthread_mutex_lock(&sleep_mutex);
    pthread_cond_broadcast(&wake_condition);
    pthread_mutex_unlock(&sleep_mutex);
}

// Yields in the end, so that a helper can be scheduled where threads outnumber processors.
static void close_job(void)
{
    uint64_t state = atomic_fetch_or_explicit(&gate, gate_closed, memory_order_acquire);
    for (int spins = 0; (uint32_t)state != 0; ++spins) {
        if (spins < SPIN_COUNT)
            pause_cpu();
        else
            sched_yield();
        state = atomic_load_explicit(&gate, memory_order_acquire);
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
    const size_t most = blocks < MOST_THREADS ? blocks : MOST_THREADS;
    const int32_t useful = (size_t)threads < most ? threads : (int32_t)most;
    start_helpers(useful - 1);

    job.function = function;
    job.context = context;
    job.count = count;
    job.grain = grain;
    deal_blocks(blocks, useful);
    open_job();
    run_blocks(0);
    close_job();
    pthread_mutex_unlock(&job_mutex);
}
