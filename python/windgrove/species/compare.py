"""What differs between two presets, in words."""

from __future__ import annotations

import math
from typing import Any

from .species import LEVELS, Species

_MEANING = {
    "beta": ("stiffer", "softer", 0.5),  # a frequency goes with the root of beta
    "zeta": ("more damped", "less damped", None),
    "zeta_bare": ("more damped without leaves", "less damped without leaves", None),
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
            if a == b:
                continue
            if a is None or b is None:
                lines.append(f"{level}.{name}: {_or_none(a)} -> {_or_none(b)}")
            else:
                lines.append(f"{level}.{name}: {_change(name, a, b)}")
    if first.leaf_area_index != second.leaf_area_index:
        lines.append(
            f"leaf_area_index: {first.leaf_area_index:g} -> {second.leaf_area_index:g} m2/m2"
        )
    for name in ("name", "latin_name", "aliases"):
        a, b = getattr(first, name), getattr(second, name)
        if a != b:
            lines.append(f"{name}: {a!r} -> {b!r}")
    lines += _parts("growth", first.growth, second.growth)
    lines += _parts("provenance", first.provenance, second.provenance)
    return tuple(lines)


def _parts(name: str, first: Any, second: Any) -> list[str]:
    """Fields of a table that differ; long ones are not written out."""
    if first is None or second is None:
        return [] if first is second else [f"{name}: {_or_none(first)} -> {_or_none(second)}"]
    lines = []
    for key, a in vars(first).items():
        b = getattr(second, key)
        if a != b:
            text = f"{a!r} -> {b!r}"
            lines.append(f"{name}.{key}: {text}" if len(text) <= 70 else f"{name}.{key} differs")
    return lines


def _or_none(value: Any) -> str:
    if value is None:
        return "none"
    return f"{value:g}" if isinstance(value, float) else "given"


def _change(name: str, a: float, b: float) -> str:
    more, less, power = _MEANING[name]
    text = f"{a:g} -> {b:g}"
    if a > 0 and b > 0:
        text += f", x {b / a:.3g}"
    text += f": {more if b > a else less}"
    if power is not None and a > 0 and b > 0:
        text += f", its own frequency x {math.pow(b / a, power):.3g}"
    return text
