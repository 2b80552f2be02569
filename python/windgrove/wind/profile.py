"""How the prevailing wind grows with height."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from .protocol import PROFILES, Prevailing


@dataclass(frozen=True, kw_only=True)
class HeightProfile:
    """The factor on the wind at the reference height, as a function of height.

    ``"log"`` is ``ln((z + z0) / z0) / ln((zr + z0) / z0)``, ``"power"`` is ``(z / zr)^p``; z is
    the height above `ground`. Both are 0 at and below the ground and 1 at the reference height.

    Parameters
    ----------
    kind : {"none", "log", "power"}
    ground : float, default 0
        Height of the ground [m].
    reference_height : float, default 10
        Height above the ground at which the given velocity blows [m], the WMO's for wind records.
    roughness : float, default 0.03
        Roughness length z0 of the logarithmic profile [m]; the default is open grassland.
    exponent : float, default 0.234
        Exponent p of the power law; the default was measured at Cabauw.

    References
    ----------
    WMO-No. 8, Guide to Instruments and Methods of Observation, chapter 5 (10 m, roughness classes).
    Cabauw exponent: quoted in the documentation of OpenSourceAWE/AtmosphericModels.jl.
    """

    kind: str = "none"
    ground: float = 0.0
    reference_height: float = 10.0
    roughness: float = 0.03
    exponent: float = 0.234

    def __post_init__(self) -> None:
        checks.choice(self.kind, "profile", PROFILES)
        for name in ("ground", "reference_height", "roughness", "exponent"):
            above = None if name == "ground" else 0.0
            object.__setattr__(self, name, checks.number(getattr(self, name), name, above=above))

    def factor(self, height: ArrayLike) -> NDArray[np.float64]:
        """The factor at heights z [m], any shape."""
        return height_factor(self.prevailing((0, 0, 0)), height)

    def prevailing(self, velocity: ArrayLike) -> Prevailing:
        """The wind outside the grids, for a velocity [m/s] at the reference height."""
        x, y, z = np.asarray(velocity, dtype=np.float64).tolist()
        return Prevailing((x, y, z), self.kind, self.ground, self.reference_height, self._parameter)

    @property
    def _parameter(self) -> float:
        if self.kind == "none":
            return 0.0
        return self.roughness if self.kind == "log" else self.exponent


def height_factor(prevailing: Prevailing, height: ArrayLike) -> NDArray[np.float64]:
    """The factor of a `Prevailing` wind at heights z [m], any shape."""
    z = np.asarray(height, dtype=np.float64)
    if prevailing.profile == "none":
        return np.ones_like(z)
    above = np.maximum(z - prevailing.ground, 0.0)
    if prevailing.profile == "power":
        return (above / prevailing.reference_height) ** prevailing.parameter
    z0 = prevailing.parameter
    return np.log1p(above / z0) / np.log1p(prevailing.reference_height / z0)


def height_profile(profile: str | HeightProfile, **options: Any) -> HeightProfile:
    """`profile` as a `HeightProfile`; options that are None keep their default."""
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(profile, HeightProfile):
        if given:
            raise ValueError(
                f"{next(iter(given))}: already set by the HeightProfile given as profile"
            )
        return profile
    if not isinstance(profile, str):
        raise TypeError(f"profile: expected a word or a HeightProfile, got {profile!r}")
    return HeightProfile(kind=profile, **given)
