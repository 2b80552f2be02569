"""What the plots read from recordings, with errors that say what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from ..checks import integer
from ..trees.tree import KIND_NAMES

if TYPE_CHECKING:
    import xarray as xr

BLOCK = 256  # frames read at a time


@overload
def degrees(angle: float) -> float: ...
@overload
def degrees(angle: NDArray[np.floating]) -> NDArray[np.float64]: ...
def degrees(angle: Any) -> Any:
    """Radians in degrees."""
    return angle * (180.0 / np.pi)


def needs(ds: xr.Dataset, name: str, what: str) -> xr.DataArray:
    """`ds[name]`, or an error that says how to get it."""
    if not hasattr(ds, "data_vars"):
        raise TypeError(f"ds: expected an xarray.Dataset, got {type(ds).__name__}")
    if name not in ds:
        raise ValueError(f"ds: has no {name!r}; {what}")
    return ds[name]


def one_instance(array: xr.DataArray, instance: int) -> xr.DataArray:
    """One tree of the recording."""
    if "instance" not in array.dims:
        return array
    count = array.sizes["instance"]
    return array.isel(instance=integer(instance, "instance", low=-count, high=count - 1))


def recorded_rotation(ds: xr.Dataset, *, instance: int = 0) -> xr.DataArray:
    """``rotation`` of one tree: (time, branch, component), rad."""
    rotation = needs(ds, "rotation", 'a recording has it; record it with channels=("rotation",)')
    return one_instance(rotation, instance).transpose("time", "branch", "component")


def branch_position(ds: xr.Dataset, branch: Any) -> int:
    """Where in the recording the branch with this index of the tree is."""
    wanted = integer(branch, "branch", low=0)
    labels = ds["branch"].to_numpy() if "branch" in ds.coords else np.arange(ds.sizes["branch"])
    found = np.flatnonzero(labels == wanted)
    if not found.size:
        raise ValueError(f"branch: {wanted} was not recorded; recorded are {_range(labels)}")
    return int(found[0])


def _range(labels: NDArray[Any]) -> str:
    if len(labels) <= 8:
        return ", ".join(str(label) for label in labels)
    return f"{labels[0]} to {labels[-1]} ({len(labels)} branches)"


def kinds(ds: xr.Dataset) -> NDArray[np.str_]:
    """ "trunk", "branch" or "foliage" for each recorded branch."""
    if "kind" not in ds:
        return np.array(["trunk"] + ["branch"] * (ds.sizes["branch"] - 1))
    kind = ds["kind"].to_numpy()
    if kind.dtype.kind in "iu":
        return np.array(KIND_NAMES)[kind]
    return np.array([k.decode() if isinstance(k, bytes) else str(k) for k in kind])


def rate(ds: xr.Dataset) -> float:
    """Frames a second of a recording with a steady clock."""
    time = ds["time"].to_numpy().astype(np.float64)
    if len(time) < 2:
        raise ValueError("ds: has fewer than two frames")
    step = np.diff(time)
    middle = float(np.median(step))
    if middle <= 0 or np.abs(step - middle).max() > 0.01 * middle + 1e-6:
        raise ValueError("ds: its times are not evenly spaced; resample them first")
    return 1.0 / middle


def chosen_branches(rotation: xr.DataArray, members: NDArray[np.intp]) -> NDArray[np.float32]:
    """(time, member, 3), read in blocks of time, so that the rest is never held in memory."""
    count = rotation.sizes["time"]
    out = np.empty((count, len(members), rotation.sizes["component"]), np.float32)
    for start in range(0, count, BLOCK):
        block = rotation.isel(time=slice(start, start + BLOCK)).to_numpy()
        out[start : start + BLOCK] = block[:, members]
    return out
