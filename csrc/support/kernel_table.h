// The table of kernels that exist once for every instruction set.
//
// Each room lists its kernels in a `kernels.def` as WGI_KERNEL(return type, name, (arguments)).
// A kernel's source is compiled once per instruction set and defines WGI_ISA(name); callers reach
// it as wgi_kernels()->name. Adding a kernel touches its source and its room's list, nothing here.
//
// A kernel listed as WGI_KERNEL_512 has a body for AVX-512 as well (32 registers and masks); in that set's table all others are those of AVX2: decision 0002 says which and why.
#pragma once

#include "support/kernel_types.h"
#include "windgrove/base.h"

#define WGI_JOIN_(a, b) a##_##b
#define WGI_JOIN(a, b) WGI_JOIN_(a, b)
#define WGI_ISA(name) WGI_JOIN(wgi_##name, WG_ISA)

typedef struct wgi_kernel_table {
    const char* isa;
#define WGI_KERNEL(type, name, arguments) type(*name) arguments;
#define WGI_KERNEL_512 WGI_KERNEL
#include "recording/kernels.def"
#include "support/kernels.def"
#include "sway/kernels.def"
#include "trees/kernels.def"
#include "wind/kernels.def"
#undef WGI_KERNEL
#undef WGI_KERNEL_512
} wgi_kernel_table;

const wgi_kernel_table* wgi_kernels(void);
