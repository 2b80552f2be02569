"""Trees that sway: instances, runs, experiments."""

from .experiments import frequency_sweep, pull_and_release, step_gust
from .simulate import simulate
from .sway import Sway

__all__ = ["Sway", "frequency_sweep", "pull_and_release", "simulate", "step_gust"]
