// The most fused multiply-adds one thread can do: ten independent chains of eight lanes.
#include "bench.h"

enum { CHAINS = 10, TURNS = 20000 };

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2,fma"))) static void turn_fma(void)
{
    const __m256 factor = _mm256_set1_ps(0.999f), term = _mm256_set1_ps(0.001f);
    __m256 c0 = term, c1 = term, c2 = term, c3 = term, c4 = term;
    __m256 c5 = term, c6 = term, c7 = term, c8 = term, c9 = term;
    for (int n = 0; n < TURNS; ++n)
        // In assembly, since a compiler would fold chains that start alike.
        __asm__ volatile(
            "vfmadd213ps %[b], %[a], %[c0]\n\tvfmadd213ps %[b], %[a], %[c1]\n\t"
            "vfmadd213ps %[b], %[a], %[c2]\n\tvfmadd213ps %[b], %[a], %[c3]\n\t"
            "vfmadd213ps %[b], %[a], %[c4]\n\tvfmadd213ps %[b], %[a], %[c5]\n\t"
            "vfmadd213ps %[b], %[a], %[c6]\n\tvfmadd213ps %[b], %[a], %[c7]\n\t"
            "vfmadd213ps %[b], %[a], %[c8]\n\tvfmadd213ps %[b], %[a], %[c9]"
            : [c0] "+x"(c0), [c1] "+x"(c1), [c2] "+x"(c2), [c3] "+x"(c3), [c4] "+x"(c4),
              [c5] "+x"(c5), [c6] "+x"(c6), [c7] "+x"(c7), [c8] "+x"(c8), [c9] "+x"(c9)
            : [a] "x"(factor), [b] "x"(term));
}

static int has_fma(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
static void turn_fma(void)
{
}

static int has_fma(void)
{
    return 0;
}
#endif

void bench_fma_peak(void* unused)
{
    (void)unused;
    if (has_fma())
        turn_fma();
}

double bench_fma_flops(void)
{
    return has_fma() ? 2.0 * 8 * CHAINS * TURNS : 0.0;
}
