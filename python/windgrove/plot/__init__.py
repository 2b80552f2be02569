"""Plots: each takes ``ax=``, returns what it drew, and changes no setting of matplotlib's.

Axes are labelled with units, colours are told apart by every common kind of colour vision, and
sizes suit the figure: `style("paper")` or a figure narrower than 5 inches gives a paper's.
"""

from .animation import animate
from .dashboard import dashboard
from .drawing import tree
from .fit_plots import calibration, decay, regression
from .frequency_plots import frequencies
from .preview import Preview
from .scene_3d import view3d
from .styles import COLOURS, Drawing, style
from .sway_plots import history, spectrum, sway
from .sweep_plots import sweep
from .wind_plots import wind

__all__ = [
    "COLOURS",
    "Drawing",
    "Preview",
    "animate",
    "calibration",
    "dashboard",
    "decay",
    "frequencies",
    "history",
    "regression",
    "spectrum",
    "style",
    "sway",
    "sweep",
    "tree",
    "view3d",
    "wind",
]
