"""A measured wind: sonic records with their clocks put right."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from .profile import HeightProfile, height_profile
from .record_table import rate_from_name, read_table
from .sources import UniformSource

if TYPE_CHECKING:
    import xarray

ENDS = ("refuse", "hold", "repeat")


@dataclass(frozen=True)
class Gap:
    """A time without samples: it was bridged by a straight line."""

    start: float  # s, of the last sample before
    duration: float  # s


@dataclass(frozen=True)
class RecordReport:
    """What a file of wind held and what was repaired.

    Attributes
    ----------
    path, layout : str
        Of the file; layout is "TOA5" or "table".
    columns : tuple of str
        Header words of the clock ("" for none) and of u, v, w.
    rows : int
        Rows of numbers in the file.
    missing : int
        Rows with a component that is missing or not finite; left out.
    repeated, backward : int
        Stamps equal to the one before (the samples were spread over the interval before it), and
        stamps earlier than one before (left out).
    gaps : tuple of Gap
        Intervals longer than `gap_limit` [s].
    interval, interval_low, interval_high : float
        Median, 5 % and 95 % quantile of the intervals between different stamps [s].
    rate : float
        Of the resampled record [Hz].
    rate_source : str
        "clock", "argument" or "name of the file".
    mean, sd : tuple of float
        Of u, v, w over the file's rows, before any repair; sd with n in the denominator [m/s].
    speed_mean, speed_sd, speed_max : float
        Of the horizontal speed over the file's rows [m/s].
    """

    path: str
    layout: str
    columns: tuple[str, str, str, str]
    rows: int
    missing: int
    repeated: int
    backward: int
    gaps: tuple[Gap, ...]
    gap_limit: float
    interval: float
    interval_low: float
    interval_high: float
    rate: float
    rate_source: str
    mean: tuple[float, float, float]
    sd: tuple[float, float, float]
    speed_mean: float
    speed_sd: float
    speed_max: float

    def __str__(self) -> str:
        gaps = ", ".join(f"{gap.duration:.1f} s at {gap.start:.1f} s" for gap in self.gaps)
        return (
            f"{self.path}: {self.rows} rows ({self.layout}), {self.repeated} repeated and "
            f"{self.backward} backward stamps, {self.missing} missing, gaps: {gaps or 'none'}; "
            f"{self.rate:g} Hz, mean speed {self.speed_mean:.3f} m/s"
        )


class RecordedWind(UniformSource):
    """A record of wind on an even clock, linear between its samples.

    Parameters
    ----------
    velocity : array_like, shape (n, 3)
        u, v, w with w up [m/s]; finite.
    rate : float, keyword-only
        Samples per second [Hz].
    end : {"refuse", "hold", "repeat"}, keyword-only
        Before the first and after the last sample: an error, the nearest sample, or from the
        beginning again (the last sample then leads to the first over one interval).
    start : datetime, optional, keyword-only
        Stamp of the first sample, for labels.
    report : RecordReport, optional, keyword-only
    profile, ground, reference_height, roughness, exponent
        See `HeightProfile`; the reference height is the sensor's.

    Examples
    --------
    >>> wind = RecordedWind([[5, 0, 0], [7, 1, 0]], rate=1.0)
    >>> wind.sample([[0, 0, 2]], time=0.5)
    array([[6. , 0.5, 0. ]])
    """

    def __init__(
        self,
        velocity: ArrayLike,
        *,
        rate: float,
        end: str = "refuse",
        start: datetime | None = None,
        report: RecordReport | None = None,
        profile: str | HeightProfile = "none",
        ground: float | None = None,
        reference_height: float | None = None,
        roughness: float | None = None,
        exponent: float | None = None,
    ) -> None:
        self._values = checks.array(
            velocity, "velocity", dtype=np.float64, shape=(None, 3), finite=True
        ).copy()
        if len(self._values) < 2:
            raise ValueError(f"velocity: expected at least two samples, got {len(self._values)}")
        self._values.flags.writeable = False
        self.rate = checks.number(rate, "rate", above=0.0)
        self.end = checks.choice(end, "end", ENDS)
        self.start = start
        self.report = report
        self.profile = height_profile(
            profile,
            ground=ground,
            reference_height=reference_height,
            roughness=roughness,
            exponent=exponent,
        )

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        rate: float | None = None,
        columns: Iterable[str] | None = None,
        clock: str | None = None,
        gap: float | None = None,
        end: str = "refuse",
        **options: Any,
    ) -> RecordedWind:
        """Read a sonic record: Campbell TOA5, or text with a header, plain or gzipped.

        Repeated stamps are spread over the interval before them, backward stamps and missing
        values left out, gaps bridged, all counted in ``.report``; then the record is put on an
        even clock.

        Parameters
        ----------
        path : str or path
        rate : float, optional
            Of the even clock [Hz]; None is the file's own, to a whole number from 1 Hz on. For a
            file without a clock it is the rate at which it was written; None takes it from the
            file's name ("..._20HZ_...").
        columns : three str, optional
            Header words of u, v, w; found by themselves where they have usual names.
        clock : str, optional
            Header word of the time; None is the column with the finest stamps.
        gap : float, optional
            Intervals longer than this count as gaps [s]; None is 2 s or five median intervals,
            whichever is longer.
        end, profile, ground, reference_height, roughness, exponent
            See `RecordedWind`.

        Raises
        ------
        ValueError
            Names the file, the row and what is wrong.
        FileNotFoundError
        """
        file = checks.path(path, "path")
        table = read_table(file, columns=columns, clock=clock)
        if rate is not None:
            rate = checks.number(rate, "rate", above=0.0)
        good = np.all(np.isfinite(table.velocity), axis=1)
        if np.count_nonzero(good) < 2:
            raise ValueError(f"{file}: fewer than two rows with all three components")
        if table.time is None:
            rate_source = "argument" if rate is not None else "name of the file"
            rate = rate if rate is not None else rate_from_name(file)
            if rate is None:
                raise ValueError(f"{file}: no column with a time; give the file's rate= in Hz")
            stamps = np.arange(len(good)) / rate
        else:
            rate_source = "clock" if rate is None else "argument"
            stamps = table.time
        repaired = _repair(stamps[good], gap)
        values = table.velocity[good][repaired.kept]
        if rate is None:
            rate = _own_rate(repaired.time)
        raw = table.velocity[good]
        speed = np.hypot(raw[:, 0], raw[:, 1])
        report = RecordReport(
            path=str(file),
            layout=table.layout,
            columns=table.columns,
            rows=len(good),
            missing=int(np.count_nonzero(~good)),
            repeated=repaired.repeated,
            backward=repaired.backward,
            gaps=repaired.gaps,
            gap_limit=repaired.gap_limit,
            interval=repaired.quantiles[1],
            interval_low=repaired.quantiles[0],
            interval_high=repaired.quantiles[2],
            rate=rate,
            rate_source=rate_source,
            mean=_three(raw.mean(axis=0)),
            sd=_three(raw.std(axis=0)),
            speed_mean=float(speed.mean()),
            speed_sd=float(speed.std()),
            speed_max=float(speed.max()),
        )
        even = np.arange(np.floor((repaired.time[-1] - repaired.time[0]) * rate + 1e-6) + 1) / rate
        since = repaired.time - repaired.time[0]
        velocity = np.stack([np.interp(even, since, values[:, c]) for c in range(3)], axis=1)
        return cls(velocity, rate=rate, end=end, start=table.start, report=report, **options)

    @property
    def duration(self) -> float:
        """From the first to the last sample [s]."""
        return (len(self._values) - 1) / self.rate

    @property
    def samples(self) -> NDArray[np.float64]:
        """The samples (n, 3), read-only [m/s]."""
        return self._values

    def velocity(self, time: float | None = None) -> NDArray[np.float64]:
        """Velocity (3,) at `time` since the first sample [m/s, s]; None is 0."""
        now = 0.0 if time is None else checks.number(time, "time")
        count = len(self._values)
        at = now * self.rate
        # One part in 1e9 of a sample forgives the rounding of time * rate at the very end.
        if self.end == "refuse" and not -1e-9 * count <= at <= (count - 1) * (1 + 1e-9):
            raise ValueError(
                f"time: the record spans 0 to {self.duration:g} s and {now:g} s was asked; "
                "read it with end='repeat' or end='hold'"
            )
        at = np.mod(at, count) if self.end == "repeat" else min(max(at, 0.0), float(count - 1))
        low = min(int(at), count - 1)
        high = (low + 1) % count if self.end == "repeat" else min(low + 1, count - 1)
        share = at - low
        return (1 - share) * self._values[low] + share * self._values[high]

    def aligned(self, direction: ArrayLike = (1.0, 0.0, 0.0)) -> RecordedWind:
        """The record turned about the vertical so that its mean blows along `direction`."""
        along = checks.vector(direction, "direction")
        mean = self._values.mean(axis=0)
        if not np.hypot(*mean[:2]) > 0 or not np.hypot(*along[:2]) > 0:
            raise ValueError("direction: neither the mean wind nor direction may be vertical or 0")
        angle = np.arctan2(along[1], along[0]) - np.arctan2(mean[1], mean[0])
        cos, sin = np.cos(angle), np.sin(angle)
        turn = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
        return self._with(self._values @ turn.T)

    def scaled(self, factor: float) -> RecordedWind:
        """The record with all velocities multiplied."""
        return self._with(self._values * checks.number(factor, "factor"))

    def _with(self, velocity: NDArray[np.float64]) -> RecordedWind:
        return RecordedWind(
            velocity,
            rate=self.rate,
            end=self.end,
            start=self.start,
            report=self.report,
            profile=self.profile,
        )

    def dataset(self) -> xarray.Dataset:
        """The even record with labels: ``velocity (time, component)``."""
        import xarray

        return xarray.Dataset(
            {"velocity": (("time", "component"), self._values.copy(), {"units": "m s-1"})},
            coords={
                "time": ("time", np.arange(len(self._values)) / self.rate, {"units": "s"}),
                "component": ["x", "y", "z"],
            },
            attrs={"rate": self.rate} | ({"start": self.start.isoformat()} if self.start else {}),
        )

    def describe(self) -> dict[str, Any]:
        text: dict[str, Any] = {"rate": self.rate, "end": self.end, "samples": len(self._values)}
        if self.report is not None:
            text["file"] = Path(self.report.path).name
        text["mean"] = self._values.mean(axis=0).tolist()
        return super().describe() | text

    def __repr__(self) -> str:
        return f"RecordedWind({len(self._values)} samples, rate={self.rate:g}, end={self.end!r})"


def _three(values: NDArray[np.float64]) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return x, y, z


@dataclass(frozen=True)
class _Repaired:
    time: NDArray[np.float64]  # strictly increasing
    kept: NDArray[np.bool_]  # of the stamps given
    repeated: int
    backward: int
    gaps: tuple[Gap, ...]
    gap_limit: float
    quantiles: tuple[float, float, float]


def _repair(stamps: NDArray[np.float64], gap: float | None) -> _Repaired:
    """Strictly increasing times from jittered, repeated and backward stamps."""
    highest = np.maximum.accumulate(stamps)
    kept = stamps >= highest
    time = stamps[kept]
    steps = np.diff(time)
    repeated = int(np.count_nonzero(steps == 0))
    moving = steps[steps > 0]
    if len(moving) == 0:
        raise ValueError("clock: all stamps are equal")
    limit = max(2.0, 5 * float(np.median(moving))) if gap is None else checks.number(gap, "gap")
    gaps = tuple(
        Gap(float(time[n] - time[0]), float(steps[n])) for n in np.flatnonzero(steps > limit)
    )
    quantiles = np.quantile(moving, [0.05, 0.5, 0.95]).tolist()
    return _Repaired(
        time=_spread(time),
        kept=kept,
        repeated=repeated,
        backward=int(np.count_nonzero(~kept)),
        gaps=gaps,
        gap_limit=limit,
        quantiles=(quantiles[0], quantiles[1], quantiles[2]),
    )


def _spread(time: NDArray[np.float64]) -> NDArray[np.float64]:
    """Samples that share a stamp, spread evenly over the interval that ends with it.

    The logger wrote them late: the interval before a repeated stamp is longer by as much. At most
    one median interval a sample is used, so that a gap stays a gap; the first stamp's samples go
    back before it.
    """
    values, first, count = np.unique(time, return_index=True, return_counts=True)
    steps = np.diff(values)
    usual = float(np.median(steps))
    result = time.copy()
    for n in np.flatnonzero(count > 1):
        room = steps[n - 1] if n > 0 else np.inf
        step = min(usual, room / count[n])
        back = np.arange(count[n] - 1, -1, -1)
        result[first[n] : first[n] + count[n]] = values[n] - back * step
    return result


def _own_rate(time: NDArray[np.float64]) -> float:
    rate = (len(time) - 1) / float(time[-1] - time[0])
    return float(round(rate)) if rate >= 1 else rate
