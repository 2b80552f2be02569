"""Slow, plain NumPy double-precision twins of every kernel, same names and arguments.

Read these to understand what a kernel computes; the tests compare the kernels with them.
"""

from .noise import perlin
from .sway import rotation_frames, step_springs
from .trees import propagate_drag, total_mass

__all__ = [
    "perlin",
    "propagate_drag",
    "rotation_frames",
    "step_springs",
    "total_mass",
]
