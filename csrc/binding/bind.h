// The method tables that module.c joins: one for each public header.
#pragma once

#include "arguments.h"

extern PyMethodDef bind_support_methods[];
extern PyMethodDef bind_noise_methods[];
extern PyMethodDef bind_cascade_methods[];
extern PyMethodDef bind_pack_methods[];
extern PyMethodDef bind_step_methods[];
extern PyMethodDef bind_tree_methods[];
extern PyMethodDef bind_skin_methods[];
extern PyMethodDef bind_sway_methods[];
extern PyMethodDef bind_forest_methods[];
extern PyMethodDef bind_flow_methods[];
extern PyMethodDef bind_voxels_methods[];
extern PyMethodDef bind_project_methods[];
