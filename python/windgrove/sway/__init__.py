"""Trees that sway: instances, runs, experiments."""

from .simulate import simulate
from .sway import Sway

__all__ = ["Sway", "simulate"]
