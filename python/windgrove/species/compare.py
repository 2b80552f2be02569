"""What differs between two presets, in words."""

from __future__ import annotations

import math

from .species import LEVELS, Species

_MEANING = {
    "beta": ("stiffer", "softer", 0.5),  # a frequency goes with the root of beta
    "zeta": ("more damped", "less damped", None),
    "gamma": ("caught more by the wind", "caught less by the wind", None),
    "rho": ("heavier leaves", "lighter leaves", None),
    "propagation": ("moved more by its children", "moved less by its children", None),
}


def describe_difference(first: Species, second: Species) -> tuple[str, ...]:
    """What `second` has otherwise than `first`, a line each; nothing where they are the same.

    Parameters
    ----------
    first, second : Species

    Returns
    -------
    tuple of str
        Such as ``"trunk.beta: 4e+05 -> 8e+05, x 2: stiffer, its own frequency x 1.41"``.
    """
    lines = []
    for level in LEVELS:
        one, two = first.level(level), second.level(level)
        for name in _MEANING:
            a, b = getattr(one, name), getattr(two, name)
            if a != b:
                lines.append(f"{level}.{name}: {_change(name, a, b)}")
    if first.leaf_area_index != second.leaf_area_index:
        lines.append(
            f"leaf_area_index: {first.leaf_area_index:g} -> {second.leaf_area_index:g} m2/m2"
        )
    for name in ("name", "latin_name", "provenance", "growth"):
        if getattr(first, name) != getattr(second, name):
            a, b = getattr(first, name), getattr(second, name)
            short = isinstance(a, str) and isinstance(b, str)
            lines.append(f"{name}: {a!r} -> {b!r}" if short else f"{name} differs")
    return tuple(lines)


def _change(name: str, a: float, b: float) -> str:
    more, less, power = _MEANING[name]
    text = f"{a:g} -> {b:g}"
    if a > 0 and b > 0:
        text += f", x {b / a:.3g}"
    text += f": {more if b > a else less}"
    if power is not None and a > 0 and b > 0:
        text += f", its own frequency x {math.pow(b / a, power):.3g}"
    return text
