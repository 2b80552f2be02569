// Argument structs of the per-ISA kernels; each room adds its own header here.
#pragma once

#include "sway/forest_job.h"
#include "sway/skin_types.h"
#include "wind/exchange_types.h"
#include "wind/flow_types.h"
#include "wind/project_direct.h"
#include "wind/project_lattice.h"
