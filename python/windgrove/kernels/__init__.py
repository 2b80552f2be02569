"""The C kernels as functions: arrays in, arrays out.

Inputs may be strided, read-only, float64 or lists: they are converted, never refused, and never
changed. Arrays that are written (`out=`, `pressure=`, the state of `step_springs`) must be
writable, float32 and C-ordered. `windgrove.reference` holds a plain NumPy double-precision twin of
every function under the same name.
"""

import os as _os

from .. import _kernels
from .noise import perlin
from .projection import (
    ProjectionReport,
    divergence,
    jacobi_sweeps,
    project,
    project_report,
    projection_scratch,
)
from .skin import skin
from .sway import pack_rotation, rotation_frames, step_springs, unpack_rotation
from .trees import propagate_drag, total_mass
from .voxels import MeshReport, mesh_report, voxelize
from .wind import advect, confine_vorticity, flow_scratch, sample, sample_wind

__all__ = [
    "MeshReport",
    "ProjectionReport",
    "advect",
    "confine_vorticity",
    "divergence",
    "flow_scratch",
    "jacobi_sweeps",
    "mesh_report",
    "pack_rotation",
    "perlin",
    "project",
    "project_report",
    "projection_scratch",
    "propagate_drag",
    "rotation_frames",
    "sample",
    "sample_wind",
    "skin",
    "step_springs",
    "total_mass",
    "unpack_rotation",
    "voxelize",
]

_wanted = _os.environ.get("WINDGROVE_ISA")
if _wanted and _wanted != _kernels.isa():
    raise ImportError(
        f"WINDGROVE_ISA: this build and processor have no {_wanted!r}; "
        f"they chose {_kernels.isa()!r}; expected one of {_kernels.instruction_sets()}"
    )
