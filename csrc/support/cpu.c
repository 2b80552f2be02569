// Instruction-set dispatch, status texts and build facts.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support/kernel_table.h"

extern const wgi_kernel_table wgi_kernel_table_scalar;
#ifdef WGI_HAVE_X86
extern const wgi_kernel_table wgi_kernel_table_avx2, wgi_kernel_table_avx512;
#endif

static _Atomic(const wgi_kernel_table*) active;

// The sets that this build and processor have, the plainest first. The compilers' run-time support
// counts a set only where the system saves its registers too (XGETBV).
static int32_t find_tables(const wgi_kernel_table* found[WG_MOST_ISAS])
{
    int32_t count = 0;
    found[count++] = &wgi_kernel_table_scalar;
#ifdef WGI_HAVE_X86
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi2"))
        return count;
    found[count++] = &wgi_kernel_table_avx2;
    // VBMI2 is not used: it came with the processors that keep their clock in 64-byte registers.
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi2"))
        found[count++] = &wgi_kernel_table_avx512;
#endif
    return count;
}

static const wgi_kernel_table* find_table(const char* name)
{
    const wgi_kernel_table* found[WG_MOST_ISAS];
    for (int32_t n = find_tables(found) - 1; n >= 0; --n)
        if (strcmp(found[n]->isa, name) == 0)
            return found[n];
    return NULL;
}

static const wgi_kernel_table* choose_table(void)
{
    const char* wanted = getenv("WINDGROVE_ISA");
    const wgi_kernel_table* table = wanted ? find_table(wanted) : NULL;
    const wgi_kernel_table* found[WG_MOST_ISAS];
    const int32_t count = find_tables(found);
    return table ? table : found[count - 1];
}

// Racing first calls all store the same pointer.
const wgi_kernel_table* wgi_kernels(void)
{
    const wgi_kernel_table* table = atomic_load_explicit(&active, memory_order_acquire);
    if (!table) {
        table = choose_table();
        atomic_store_explicit(&active, table, memory_order_release);
    }
    return table;
}

const char* wg_isa_name(void)
{
    return wgi_kernels()->isa;
}

int32_t wg_isa_names(const char* names[WG_MOST_ISAS])
{
    const wgi_kernel_table* found[WG_MOST_ISAS];
    const int32_t count = find_tables(found);
    for (int32_t n = 0; n < count; ++n)
        names[n] = found[n]->isa;
    return count;
}

wg_status wg_isa_force(const char* name)
{
    const wgi_kernel_table* table = find_table(name);
    if (!table)
        return WG_ERR_VALUE;
    atomic_store_explicit(&active, table, memory_order_release);
    return WG_OK;
}

const char* wg_compiler(void)
{
    return WGI_COMPILER;
}

const char* wg_build_type(void)
{
    return WGI_BUILDTYPE;
}

const char* wg_status_text(wg_status status)
{
    switch (status) {
    case WG_OK:
        return "ok";
    case WG_NOT_CONVERGED:
        return "the iteration stopped at its cap";
    case WG_ERR_VALUE:
        return "an argument is out of range";
    case WG_ERR_TOPOLOGY:
        return "a parent does not come before its child";
    case WG_ERR_MEMORY:
        return "out of memory";
    case WG_ERR_DIVERGED:
        return "a state is not finite";
    case WG_ERR_UNSUPPORTED:
        return "this combination of options does not exist";
    }
    return "unknown status";
}
