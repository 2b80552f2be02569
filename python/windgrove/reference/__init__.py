"""Slow, plain NumPy double-precision twins of every kernel, same names and arguments.

Read these to understand what a kernel computes; the tests compare the kernels with them.
"""

from .noise import perlin
from .projection import divergence, project
from .trees import propagate_drag, total_mass
from .wind import sample, sample_wind

__all__ = [
    "divergence",
    "perlin",
    "project",
    "propagate_drag",
    "sample",
    "sample_wind",
    "total_mass",
]
