"""Spectra of recordings by Welch's method: power, transfer from wind to sway, coherence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy import signal

from .. import checks


def power_spectrum(
    data: xr.DataArray | ArrayLike,
    *,
    dt: float | None = None,
    segment: float | None = None,
    overlap: float = 0.5,
    window: str = "hann",
) -> xr.DataArray:
    """One-sided power spectral density along time.

    Parameters
    ----------
    data : xarray.DataArray with `time`, or array_like with time first
        Uniform steps; at least 16 of them.
    dt : float, s
        Needed where `data` has no time.
    segment : float, s, optional
        Length of Welch's segments: the resolution is 1/segment. By default a quarter of the
        record.
    overlap : float, default 0.5
        Share of a segment that the next one repeats.
    window : str
        Any of `scipy.signal.get_window`.

    Returns
    -------
    xarray.DataArray
        `time` is replaced by `frequency` (Hz); units are those of the data squared per Hz. Its
        sum times the resolution is the variance of the segments. The attributes hold
        `resolution` (Hz), `segments` and `degrees_of_freedom` (about twice the segments that do
        not overlap).

    Raises
    ------
    ValueError
        A value is not finite, steps are not uniform, or the record is too short.
    """
    array, step = _uniform(data, dt, "data")
    welch = _welch(array.sizes["time"], step, segment, overlap, window)
    frequency, density = signal.welch(array.to_numpy(), axis=_axis(array), **welch.scipy)
    return _result(array, frequency, density, welch, _squared(array), "power spectral density")


def transfer_function(
    wind: xr.DataArray | ArrayLike,
    sway: xr.DataArray | ArrayLike,
    *,
    dt: float | None = None,
    segment: float | None = None,
    overlap: float = 0.5,
    window: str = "hann",
) -> xr.Dataset:
    """What a tree makes of the wind, frequency by frequency (H1 estimate).

    Parameters
    ----------
    wind, sway : xarray.DataArray with `time`, or array_like with time first
        Input and output over the same times; their other dimensions broadcast. Take one component
        of each, such as the wind along x and the rotation about y.
    dt, segment, overlap, window
        As in `power_spectrum`.

    Returns
    -------
    xarray.Dataset
        Over `frequency` (Hz): `gain` (unit of sway over unit of wind), `phase` (rad, negative
        where the sway lags), `coherence` (0 to 1) and `gain_error` (relative standard error,
        sqrt((1 - coherence) / (2 coherence n)); Bendat and Piersol 2010, table 9.6). The attribute
        `coherence_threshold` is what unrelated signals exceed in 5 % of the frequencies.

    Notes
    -----
    Noise in the sway does not bias the gain, noise in the wind lowers it by the share of its power.
    """
    x, y, step = _pair(wind, sway, dt, "wind", "sway")
    welch = _welch(x.sizes["time"], step, segment, overlap, window)
    a, b = x.to_numpy(), y.to_numpy()
    frequency, cross = signal.csd(a, b, axis=_axis(x), **welch.scipy)
    _, power_in = signal.welch(a, axis=_axis(x), **welch.scipy)
    _, power_out = signal.welch(b, axis=_axis(x), **welch.scipy)
    with np.errstate(divide="ignore", invalid="ignore"):
        response = cross / power_in
        coherent = np.clip(np.abs(cross) ** 2 / (power_in * power_out), 0, 1)
        error = np.sqrt((1 - coherent) / (2 * coherent * welch.independent))
    unit = f"{_units(y)} / ({_units(x)})"
    parts = {
        "gain": (np.abs(response), unit, "gain of the sway over the wind"),
        "phase": (np.angle(response), "rad", "phase of the sway against the wind"),
        "coherence": (coherent, "1", "squared coherence"),
        "gain_error": (error, "1", "relative standard error of the gain"),
    }
    arrays = {
        name: _result(x, frequency, values, welch, units, text)
        for name, (values, units, text) in parts.items()
    }
    attrs = arrays["gain"].attrs
    return xr.Dataset(
        {name: array.assign_attrs(units=array.attrs["units"]) for name, array in arrays.items()},
        attrs={
            "coherence_threshold": _threshold(welch),
            **{k: attrs[k] for k in ("resolution", "segments", "degrees_of_freedom")},
        },
    )


def coherence(
    first: xr.DataArray | ArrayLike,
    second: xr.DataArray | ArrayLike,
    *,
    dt: float | None = None,
    segment: float | None = None,
    overlap: float = 0.5,
    window: str = "hann",
) -> xr.DataArray:
    """Squared coherence of two motions: 1 where one follows from the other linearly.

    Parameters
    ----------
    first, second : xarray.DataArray with `time`, or array_like with time first
        Two branches or two trees. Other dimensions broadcast:
        ``coherence(ds.rotation.isel(branch=0), ds.rotation)`` compares every branch with the trunk.
    dt, segment, overlap, window
        As in `power_spectrum`. Needs several segments: a single one gives 1 everywhere, and is
        refused.

    Returns
    -------
    xarray.DataArray
        Over `frequency`, 0 to 1; the attribute `threshold` is exceeded by unrelated signals in 5 %
        of the frequencies: 1 - 0.05^(1/(n - 1)) for n independent segments.
    """
    x, y, step = _pair(first, second, dt, "first", "second")
    welch = _welch(x.sizes["time"], step, segment, overlap, window)
    a, b = x.to_numpy(), y.to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        frequency, values = signal.coherence(a, b, axis=_axis(x), **welch.scipy)
    result = _result(x, frequency, np.clip(values, 0, 1), welch, "1", "squared coherence")
    return result.assign_attrs(threshold=_threshold(welch))


def _uniform(
    data: xr.DataArray | ArrayLike, dt: float | None, name: str
) -> tuple[xr.DataArray, float]:
    if isinstance(data, xr.DataArray):
        if "time" not in data.dims:
            raise ValueError(f"{name}: has no dimension `time`")
        array = data
    else:
        values = checks.array(data, name, dtype=np.float64)
        if values.ndim == 0:
            raise ValueError(f"{name}: expected an array with time first")
        array = xr.DataArray(values, dims=("time", *(f"dim_{i}" for i in range(1, values.ndim))))
    array = array.astype(np.float64)
    if array.sizes["time"] < 16:
        raise ValueError(f"{name}: too short: {array.sizes['time']} samples, at least 16 needed")
    if not np.isfinite(array.to_numpy()).all():
        raise ValueError(f"{name}: has values that are not finite")
    return array, _step(array, dt, name)


def _step(array: xr.DataArray, dt: float | None, name: str) -> float:
    if "time" not in array.coords:
        if dt is None:
            raise ValueError(f"dt: needed, since {name} has no time coordinate")
        return checks.number(dt, "dt", above=0)
    steps = np.diff(array["time"].to_numpy().astype(np.float64))
    step = float(np.median(steps))
    if step <= 0 or np.abs(steps - step).max() > 1e-3 * step:
        raise ValueError(f"{name}: expected uniform steps of time; resample it first")
    return step


def _pair(
    first: Any, second: Any, dt: float | None, *names: str
) -> tuple[xr.DataArray, xr.DataArray, float]:
    x, step = _uniform(first, dt, names[0])
    y, other = _uniform(second, dt, names[1])
    if x.sizes["time"] != y.sizes["time"] or abs(step - other) > 1e-6 * step:
        raise ValueError(
            f"{names[1]}: expected the times of {names[0]}: {x.sizes['time']} steps of {step:g} s, "
            f"got {y.sizes['time']} of {other:g} s"
        )
    x = x.drop_vars([c for c in x.coords if c not in x.dims])
    y = y.drop_vars([c for c in y.coords if c not in y.dims])
    attrs = x.attrs, y.attrs
    x, y = xr.broadcast(x, y)
    return x.assign_attrs(attrs[0]), y.transpose(*x.dims).assign_attrs(attrs[1]), step


@dataclass(frozen=True)
class _Welch:
    """How a record is cut into segments, and how many that makes."""

    rate: float  # Hz
    size: int  # samples of a segment
    overlap: int  # samples that the next one repeats
    window: str
    segments: int
    independent: int  # segments that do not overlap

    @property
    def scipy(self) -> dict[str, Any]:
        """Arguments of scipy's estimators."""
        return {
            "fs": self.rate,
            "nperseg": self.size,
            "noverlap": self.overlap,
            "window": self.window,
            "detrend": "constant",
        }


def _welch(count: int, step: float, segment: float | None, overlap: float, window: str) -> _Welch:
    """The segments of a record of `count` samples; options as of `power_spectrum`."""
    share = checks.number(overlap, "overlap", low=0, high=0.95)
    if segment is None:
        size = max(count // 4, 16)
    else:
        size = round(checks.number(segment, "segment", above=0) / step)
    if not 8 <= size <= count:
        raise ValueError(
            f"segment: expected {8 * step:g} to {count * step:g} s for this record, got "
            f"{size * step:g}"
        )
    try:
        if not isinstance(window, (str, tuple)):
            raise TypeError("neither a name nor a name with its parameters")
        signal.get_window(window, size)
    except (TypeError, ValueError) as error:
        raise ValueError(f"window: {window!r} is none of scipy's: {error}") from None
    repeated = int(share * size)
    return _Welch(
        rate=1 / step,
        size=size,
        overlap=repeated,
        window=window,
        segments=1 + (count - size) // (size - repeated),
        independent=max(count // size, 1),
    )


def _threshold(welch: _Welch) -> float:
    if welch.independent < 2:
        raise ValueError("segment: coherence needs at least two segments that do not overlap")
    return float(1 - 0.05 ** (1 / (welch.independent - 1)))


def _axis(array: xr.DataArray) -> int:
    return array.dims.index("time")


def _units(array: xr.DataArray) -> str:
    return str(array.attrs.get("units", "1"))


def _squared(array: xr.DataArray) -> str:
    unit = _units(array)
    return "Hz-1" if unit == "1" else f"({unit})2 Hz-1" if " " in unit else f"{unit}2 Hz-1"


def _result(
    array: xr.DataArray,
    frequency: NDArray[np.float64],
    values: NDArray[Any],
    welch: _Welch,
    units: str,
    text: str,
) -> xr.DataArray:
    dims = tuple("frequency" if dim == "time" else dim for dim in array.dims)
    coords = {name: c for name, c in array.coords.items() if "time" not in c.dims}
    coords.pop("frequency", None)  # a recording's own: natural frequencies of branches
    result = xr.DataArray(values, dims=dims, coords=coords, name=text.replace(" ", "_"))
    return result.assign_coords(
        frequency=("frequency", frequency, {"units": "Hz", "long_name": "frequency"})
    ).assign_attrs(
        units=units,
        long_name=text,
        resolution=float(frequency[1]),
        segments=welch.segments,
        degrees_of_freedom=2 * welch.independent,
    )
