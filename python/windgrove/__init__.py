"""windgrove: fluid wind, branch springs, scanned trees, recordings and calibration.

Everything in `__all__` is reached as ``windgrove.<name>``; modules load when they are first used,
so that ``import windgrove`` costs milliseconds.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .errors import Diverged, NotConverged, TreeFormatError, UnusualValue

# name -> module that defines it.
_HOMES = {
    "Tree": ".trees.tree",
    "TreeReport": ".trees.tree",
    "read_tree": ".trees.read",
    "read_trees": ".trees.read",
    "read_folder": ".trees.read",
    "write_tree": ".trees.write",
    "grow_tree": ".trees.grow",
    "add_foliage": ".trees.foliage",
    "set_leaf_fraction": ".trees.foliage",
    "merge_twigs": ".trees.budget",
    "Species": ".species.species",
    "load_species": ".species.load",
    "species_names": ".species.load",
    "check_species": ".species.inspect",
    "describe_difference": ".species.compare",
    "branch_parameters": ".trees.parameters",
    "natural_frequencies": ".analysis.frequencies",
    "realised": ".analysis.frequencies",
    "advise": ".analysis.advice",
    "Wind": ".wind.cascade",
    "UniformWind": ".wind.sources",
    "RecordedWind": ".wind.recorded",
    "GustWind": ".wind.sources",
    "turbulent_wind": ".wind.synthetic",
    "Box": ".wind.solids",
    "Sphere": ".wind.solids",
    "Mesh": ".wind.solids",
    "Terrain": ".wind.solids",
    "LinearForce": ".wind.effectors",
    "Blast": ".wind.effectors",
    "Vortex": ".wind.effectors",
    "Rotor": ".wind.effectors",
    "Shelter": ".wind.shelter",
    "Turbulence": ".wind.inflow",
    "HeightProfile": ".wind.profile",
    "Projection": ".wind.solvers",
    "Sway": ".sway.sway",
    "simulate": ".sway.simulate",
    "packing_error": ".sway.packing",
    "pull_and_release": ".sway.experiments",
    "step_gust": ".sway.experiments",
    "frequency_sweep": ".sway.experiments",
    "open_recording": ".recording.reader",
    "recover_recording": ".recording.reader",
    "fit_decay": ".analysis.decay",
    "sweep": ".studies.sweep",
    "calibrate": ".studies.calibrate",
    "sensitivity": ".studies.sensitivity",
    "cite": ".citations",
    "build_info": ".build",
}
_MODULES = {"kernels", "reference", "plot", "analysis", "trees", "wind", "studies"}

__all__ = [
    "Diverged",
    "NotConverged",
    "TreeFormatError",
    "UnusualValue",
    *sorted(_HOMES),
    *sorted(_MODULES),
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("._kernels", __name__).version
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name], __name__), name)
    elif name in _MODULES:
        value = importlib.import_module("." + name, __name__)
    else:
        raise AttributeError(f"module 'windgrove' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__", "__doc__", "__file__", "__name__", "__path__"})


if TYPE_CHECKING:
    __version__: str
