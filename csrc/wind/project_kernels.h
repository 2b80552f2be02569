// Declarations of this instruction set's projection kernels, and what they share.
#pragma once

#include "support/kernel_table.h"

#define WGI_KERNEL(type, name, arguments) type WGI_ISA(name) arguments;
#define WGI_KERNEL_512 WGI_KERNEL
#include "wind/project_kernels.def"
#undef WGI_KERNEL
#undef WGI_KERNEL_512
