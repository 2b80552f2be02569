"""Experiments as they are done on real trees: pull and release, a gust, a sweep of frequencies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..wind.sources import GustWind
from .simulate import simulate
from .sway import Sway

if TYPE_CHECKING:
    import xarray as xr


def pull_and_release(
    sway: Sway,
    branch: int = 0,
    angle_deg: float = 5.0,
    duration: float = 30.0,
    *,
    towards: ArrayLike = (1.0, 0.0, 0.0),
    dt: float = 1 / 30,
    record: str | os.PathLike[str] | None = None,
    channels: str | Sequence[str] = ("rotation",),
    branches: ArrayLike | None = None,
    progress: bool | None = False,
) -> xr.Dataset:
    """Pull one branch of every tree aside, hold it, let go in still air, and record.

    Parameters
    ----------
    sway : Sway
        Put to rest first; its clock goes on.
    branch : int
        The branch pulled; 0 is the trunk of a tree with one root.
    angle_deg : float
        [deg], above 0 and at most 180.
    duration, dt, record, channels, branches, progress
        As in `windgrove.simulate`.
    towards : array_like, shape (3,)
        Where the far end is pulled, in the axes of the tree; for a branch along it, across it.

    Returns
    -------
    xarray.Dataset
        As from `simulate`; the first frame is the moment of release. The attributes `branch`,
        `angle_deg` and `axis` say what was pulled. `windgrove.fit_decay` of the rotation about
        `axis` gives the realised frequency and damping ratio.
    """
    checks.instance(sway, "sway", Sway)
    branch = checks.integer(branch, "branch", low=0, high=max(0, sway.widest - 1))
    angle = np.radians(checks.number(angle_deg, "angle_deg", above=0.0, high=180.0))
    pull = checks.vector(towards, "towards")
    if not pull.any():
        raise ValueError("towards: expected a direction, got 0")
    sway.set_state()
    axis = np.zeros(3)
    for i, tree in enumerate(sway.trees):
        if branch >= len(tree):
            raise ValueError(f"branch: tree {i} has {len(tree)} branches")
        axis = _axis(tree.direction[branch], pull)
        pose = np.zeros((len(tree), 3))
        pose[branch] = angle * axis
        sway.set_state(pose, instance=i)
    ds = simulate(
        sway, None, duration=duration, dt=dt, record=record, channels=channels,
        branches=branches, progress=progress,
    )  # fmt: skip
    return ds.assign_attrs(
        experiment="pull and release", branch=branch, angle_deg=float(angle_deg), axis=axis.tolist()
    )


def _axis(direction: NDArray[np.float64], pull: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit axis that turns a branch towards the pull."""
    for candidate in (pull, np.array([1.0, 0, 0]), np.array([0, 0, 1.0])):
        axis = np.cross(direction, candidate / np.linalg.norm(candidate))
        if np.linalg.norm(axis) > 0.05:
            return axis / np.linalg.norm(axis)
    raise AssertionError("x and z cannot both lie along a branch")


def step_gust(
    sway: Sway,
    speed: float = 8.0,
    *,
    mean: float = 0.0,
    towards: ArrayLike = (1.0, 0.0, 0.0),
    start: float = 1.0,
    length: float | None = None,
    duration: float = 30.0,
    dt: float = 1 / 30,
    record: str | os.PathLike[str] | None = None,
    channels: str | Sequence[str] = ("rotation", "wind"),
    branches: ArrayLike | None = None,
    progress: bool | None = False,
) -> xr.Dataset:
    """Put the trees to rest, let a steady wind rise at once, and record.

    Parameters
    ----------
    sway : Sway
    speed, mean : float
        Of the wind in the gust and before it [m/s].
    towards : array_like, shape (3,)
        Where the wind blows.
    start, length : float
        The gust begins `start` seconds into the run and lasts `length`, None for ever [s].
    duration, dt, record, channels, branches, progress
        As in `windgrove.simulate`.

    Returns
    -------
    xarray.Dataset
        As from `simulate`.
    """
    checks.instance(sway, "sway", Sway)
    along = _unit(towards, "towards")
    speed = checks.number(speed, "speed")
    mean = checks.number(mean, "mean")
    sway.set_state()
    wind = GustWind(
        mean * along,
        shape="step",
        amplitude=(speed - mean) * along,
        start=sway.time + checks.number(start, "start", low=0.0),
        duration=None if length is None else checks.number(length, "length", above=0.0),
    )
    ds = simulate(
        sway, wind, duration=duration, dt=dt, record=record, channels=channels,
        branches=branches, progress=progress,
    )  # fmt: skip
    return ds.assign_attrs(experiment="step gust", speed=speed, mean=mean, start=float(start))


def frequency_sweep(
    sway: Sway,
    frequencies: ArrayLike,
    *,
    amplitude: float = 0.5,
    mean: float = 4.0,
    towards: ArrayLike = (1.0, 0.0, 0.0),
    settle: float = 30.0,
    cycles: int = 8,
    dt: float = 1 / 30,
    branches: ArrayLike | None = (0,),
) -> xr.Dataset:
    """Drive the trees with a wind that swings at one frequency after the other.

    At each frequency the trees start at rest, `settle` seconds pass, and the motion of the next
    `cycles` whole cycles is projected on the sine and cosine of the wind.

    Parameters
    ----------
    sway : Sway
        Put to rest before every frequency; its noise is left out.
    frequencies : array_like, shape (f,)
        [Hz], above 0 and below 1 / (2 dt).
    amplitude, mean : float
        Of the wind, along `towards` [m/s].
    settle : float
        [s]; several decay times of the slowest branch, or what is measured is not yet periodic.
    cycles : int
    dt : float
        [s]
    branches : array_like of int or None

    Returns
    -------
    xarray.Dataset
        Over (frequency, instance, branch): `amplitude` [rad] of the angle along its main axis,
        `gain` [rad s m-1], amplitude over that of the wind, and `phase` [rad], behind the wind.
    """
    checks.instance(sway, "sway", Sway)
    import xarray as xr

    dt, mean = checks.number(dt, "dt", above=0), checks.number(mean, "mean")
    driven = checks.array(frequencies, "frequencies", dtype=np.float64, ndmin=1)
    if driven.ndim != 1 or not driven.size or not (driven > 0).all():
        raise ValueError("frequencies: expected numbers above 0")
    if driven.max() >= 0.5 / dt:
        raise ValueError(f"frequencies: dt = {dt:g} s shows frequencies below {0.5 / dt:g} Hz")
    along = _unit(towards, "towards")
    amplitude = checks.number(amplitude, "amplitude", above=0.0)
    options, found = sway.options, []
    sway.options = _still(options)
    try:
        for frequency in driven:
            run = _one_frequency(
                sway, float(frequency), amplitude, mean, along, settle, cycles, dt, branches
            )
            found.append(run)
    finally:
        sway.options = options
    size = np.array([np.abs(z) for z in found])
    dims = ("frequency", "instance", "branch")
    return xr.Dataset(
        {
            "amplitude": (dims, size, {"units": "rad", "long_name": "amplitude of the angle"}),
            "gain": (dims, size / amplitude, {"units": "rad s m-1", "long_name": "gain"}),
            "phase": (
                dims,
                np.array([-np.angle(z) for z in found]),
                {"units": "rad", "long_name": "phase behind the wind"},
            ),
        },
        coords={
            "frequency": ("frequency", driven, {"units": "Hz", "long_name": "frequency"}),
            "branch": _branch_numbers(sway, branches),
        },
        attrs={"wind_amplitude": amplitude, "wind_mean": float(mean), "dt": float(dt)},
    )


def _one_frequency(
    sway: Sway,
    frequency: float,
    amplitude: float,
    mean: float,
    along: NDArray[np.float64],
    settle: float,
    cycles: int,
    dt: float,
    branches: ArrayLike | None,
) -> NDArray[np.complex128]:
    """(instance, branch): complex amplitude of the angle, relative to the sine of the wind."""
    sway.set_state()
    start = sway.time
    wind = GustWind(
        mean * along, shape="periodic", amplitude=amplitude * along, start=start,
        frequency=frequency,
    )  # fmt: skip
    sway.step(wind, dt=dt, steps=round(checks.number(settle, "settle", low=0.0) / dt))
    length = checks.integer(cycles, "cycles", low=1) / frequency
    ds = simulate(sway, wind, duration=length, dt=dt, branches=branches, progress=False)
    time = ds.time.values[1:] - start
    theta = ds.rotation.values[1:].astype(np.float64)
    # Whole cycles rarely end on a frame: least squares on constant, sine and cosine.
    angle = 2 * np.pi * frequency * time
    basis = np.stack([np.ones_like(angle), np.sin(angle), np.cos(angle)], axis=1)
    flat = np.linalg.lstsq(basis, theta.reshape(len(time), -1), rcond=None)[0]
    parts = (flat[1] + 1j * flat[2]).reshape(theta.shape[1:])
    main = np.argmax(np.abs(parts), axis=-1)[..., None]
    size = np.sqrt((np.abs(parts) ** 2).sum(axis=-1))
    leading = np.take_along_axis(parts, main, axis=-1)[..., 0]
    static = np.take_along_axis(flat[0].reshape(theta.shape[1:]), main, axis=-1)[..., 0]
    # The sign of the axis is that of the mean deflection, so that 0 is in phase with the wind.
    return size * np.exp(1j * np.angle(leading * np.where(static < 0, -1, 1)))


def _still(options: Any) -> Any:
    from dataclasses import replace

    return replace(options, noise=0.0)


def _branch_numbers(sway: Sway, branches: ArrayLike | None) -> NDArray[np.int32]:
    from .channels import chosen_branches

    return chosen_branches(branches, sway.widest)


def _unit(direction: ArrayLike, name: str) -> NDArray[np.float64]:
    vector = checks.vector(direction, name)
    norm = np.linalg.norm(vector)
    if norm == 0:
        raise ValueError(f"{name}: expected a direction, got 0")
    return vector / norm
