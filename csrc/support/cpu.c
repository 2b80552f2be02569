// Instruction-set dispatch, status texts and build facts.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support/kernel_table.h"

extern const wgi_kernel_table wgi_kernel_table_scalar;
#ifdef WGI_HAVE_AVX2
extern const wgi_kernel_table wgi_kernel_table_avx2;
#endif

static _Atomic(const wgi_kernel_table*) active;

static const wgi_kernel_table* find_table(const char* name)
{
    if (strcmp(name, "scalar") == 0)
        return &wgi_kernel_table_scalar;
#ifdef WGI_HAVE_AVX2
    if (strcmp(name, "avx2") == 0 && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return &wgi_kernel_table_avx2;
#endif
    return NULL;
}

static const wgi_kernel_table* choose_table(void)
{
    const char* wanted = getenv("WINDGROVE_ISA");
    const wgi_kernel_table* table = wanted ? find_table(wanted) : NULL;
    if (!table)
        table = find_table("avx2");
    return table ? table : &wgi_kernel_table_scalar;
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
