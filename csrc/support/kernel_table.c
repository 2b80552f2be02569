// Compiled once per instruction set: gathers that set's kernels into one table.
#include "support/kernel_table.h"

#include "support/simd.h"

#if defined(WG_ISA_AVX512)
#define WGI_SHARED(name) WGI_JOIN(wgi_##name, avx2)
#else
#define WGI_SHARED WGI_ISA
#endif

#define WGI_KERNEL(type, name, arguments) type WGI_SHARED(name) arguments;
#define WGI_KERNEL_512(type, name, arguments) type WGI_ISA(name) arguments;
#include "recording/kernels.def"
#include "support/kernels.def"
#include "sway/kernels.def"
#include "trees/kernels.def"
#include "wind/kernels.def"
#undef WGI_KERNEL
#undef WGI_KERNEL_512

#if !defined(WG_ISA_AVX512)
int32_t WGI_ISA(simd_width)(void)
{
    return WGI_LANES;
}
#endif

extern const wgi_kernel_table WGI_ISA(kernel_table);
const wgi_kernel_table WGI_ISA(kernel_table) = {
    WGI_STRING(WG_ISA),
#define WGI_KERNEL(type, name, arguments) WGI_SHARED(name),
#define WGI_KERNEL_512(type, name, arguments) WGI_ISA(name),
#include "recording/kernels.def"
#include "support/kernels.def"
#include "sway/kernels.def"
#include "trees/kernels.def"
#include "wind/kernels.def"
#undef WGI_KERNEL
};
