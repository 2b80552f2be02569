"""Slow, plain NumPy double-precision twins of every kernel, same names and arguments.

Read these to understand what a kernel computes; the tests compare the kernels with them.
"""

from .noise import perlin
from .projection import divergence, jacobi_sweeps, project
from .skin import skin
from .sway import pack_rotation, rotation_frames, step_springs, unpack_rotation
from .trees import propagate_drag, total_mass
from .voxels import voxelize
from .wind import advect, confine_vorticity, sample, sample_wind

__all__ = [
    "advect",
    "confine_vorticity",
    "divergence",
    "jacobi_sweeps",
    "pack_rotation",
    "perlin",
    "project",
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
