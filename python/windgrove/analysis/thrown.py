"""Branches that a wind turns further than any branch goes: which, why, and what keeps them.

Steady angles alone do not find them: most are thrown by the inertia of the model, where a short
branch sits on a limb that swings fast. So the tree is run, and so is every remedy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..species.species import LEVELS, Species
from ..trees.foliage import LARGEST_BUNDLE, MAX_BUNDLES, add_foliage
from ..trees.tree import FOLIAGE, Tree
from .motion import DURATION, TURNED, peak_angles
from .statics import steady_angle

if TYPE_CHECKING:
    from .advice import Advice, Option, _Case

SHARE = 0.005  # of a level; one leaf bundle in a crown of three hundred is no finding


@dataclass(frozen=True)
class _Remedy:
    kind: str  # remedies of a kind come in rising doses
    change: str
    species: Species
    dt: float
    clamp: str
    tree: Tree | None = None
    sway: dict[str, Any] = field(default_factory=dict)


def thrown(case: _Case) -> list[Advice]:
    """One piece of advice for all the levels that are thrown, at the level most thrown."""
    from .advice import Advice

    peaks = peak_angles(case.tree, case.species, case.wind, dt=case.dt, clamp=case.clamp)
    over = ~(peaks <= TURNED)
    shares = [float(over[case.tree.kind == i].mean()) if case.has(level) else 0.0
              for i, level in enumerate(LEVELS)]  # fmt: skip
    if max(shares) <= SHARE:
        return []
    level = LEVELS[int(np.argmax(shares))]
    options = sorted(_helping(case, int(over.sum())), key=lambda o: o.effects[0].after)
    finding = _finding(case, peaks, over)
    why = _why(case, over)
    if not options:
        tried = ", ".join(dict.fromkeys(remedy.kind for remedy in _remedies(case)))
        why += f"; tried without halving their number: {tried}"
    return [Advice("thrown", level, finding, why, tuple(options))]


def _finding(case: _Case, peaks: NDArray[np.float64], over: NDArray[np.bool_]) -> str:
    counts = []
    for i, level in enumerate(LEVELS):
        of_level = case.tree.kind == i
        if over[of_level].any():
            counts.append(f"{int(over[of_level].sum())} of {int(of_level.sum())} {level}")
    first = np.argsort(np.where(np.isnan(peaks), np.inf, peaks))[::-1][: min(int(over.sum()), 5)]
    names = ", ".join(f"{int(i)} ({peaks[i]:.0f})" for i in first)
    return (
        f"{' and '.join(counts)} turn beyond {TURNED:g} deg within {DURATION:g} s of a wind of "
        f"{case.wind:g} m/s; branch (deg): {names}"
    )


def _why(case: _Case, over: NDArray[np.bool_]) -> str:
    p = case.parameters
    push = p.drag * case.wind / p.stiffness
    clamped = push * case.response.deflection
    limit = math.radians(TURNED) / math.cos(math.radians(TURNED))
    bent = over & (push > limit)
    inflated = over & ~bent & (clamped > limit)
    flung = over & ~bent & ~inflated
    parts = []
    if bent.any():
        parts.append(
            f"{int(bent.sum())} bent by the wind itself, d v / k up to "
            f"{math.degrees(push[bent].max()):.3g} deg" + _leaves(case, bent)
        )
    if inflated.any():
        parts.append(
            f"{int(inflated.sum())} by the clamp, which bends a branch (2 pi f dt)^2 times too "
            f"far, here up to {case.response.deflection[inflated].max():.3g}"
        )
    if flung.any():
        steady = np.degrees(steady_angle(clamped[flung])).max()
        parts.append(
            f"{int(flung.sum())} flung by the inertia, short branches on limbs that swing (a "
            f"steady wind bends them {steady:.3g} deg at most, their median length is "
            f"{np.median(case.tree.length[flung]):.2g} m)"
        )
    return "; ".join(parts)


def _leaves(case: _Case, which: NDArray[np.bool_]) -> str:
    """What the twigs of a crown bear for their thickness."""
    tree = case.tree
    bundles = np.flatnonzero((tree.kind == FOLIAGE) & (which | which[tree.parent]))
    if not bundles.size:
        return ""
    load = np.zeros(len(tree))
    np.add.at(load, tree.parent[bundles], tree.area[bundles])
    twigs = np.unique(tree.parent[bundles])
    section = 1e4 * tree.volume[twigs] / tree.length[twigs]
    return f", with up to {np.max(load[twigs] / section):.2g} m2 of leaf a cm2 of twig"


def _helping(case: _Case, before: int) -> Iterator[Option]:
    """Remedies that halve the number of branches thrown, with what they do to it."""
    from .advice import Effect, Option

    seen: set[str] = set()
    for remedy in _remedies(case):
        if remedy.kind in seen:
            continue
        tree = case.tree if remedy.tree is None else remedy.tree
        sway = {"clamp": remedy.clamp, **remedy.sway}
        peaks = peak_angles(tree, remedy.species, case.wind, dt=remedy.dt, **sway)
        after = int(np.count_nonzero(~(peaks <= TURNED)))
        if 2 * after > before:
            continue
        seen.add(remedy.kind)
        effects = (Effect(f"branches beyond {TURNED:g} deg", before, after),)
        yield Option(
            remedy.change, effects, remedy.species, remedy.dt, remedy.clamp, remedy.tree,
            remedy.sway,
        )  # fmt: skip


def _remedies(case: _Case) -> Iterator[_Remedy]:
    given = (case.dt, case.clamp)
    for factor in (0.7, 0.5, 0.25):
        less = _scaled(case.species, "gamma", factor)
        yield _Remedy("gamma down to x 0.25", f"gamma x {factor:g} at all levels", less, *given)
    yield from _damped(case)
    law = "Sway(drag_law=-0.4): load ~ U^1.6, as on an oak in leaf (Angelou et al. 2019)"
    yield _Remedy("drag law", law, case.species, *given, sway={"drag_law": -0.4})
    if case.clamp == "source":
        yield _Remedy(
            "compensated clamp", 'clamp="compensated"', case.species, case.dt, "compensated"
        )
    step = case.dt / 4
    yield _Remedy("four substeps", f"a step of {step:.3g} s", case.species, step, case.clamp)
    smaller = _smaller_bundles(case.tree)
    if smaller is not None:
        count = int((smaller.kind == FOLIAGE).sum())
        change = f"the same leaves in {count} bundles: add_foliage(tree, leaf_area=...)"
        yield _Remedy("smaller bundles", change, case.species, *given, tree=smaller)
    change = "Sway(inertia=False): no lag of a branch behind what carries it"
    yield _Remedy("no inertia", change, case.species, *given, sway={"inertia": False})


def _damped(case: _Case) -> Iterator[_Remedy]:
    for zeta in (0.15, 0.3):
        levels = [v for v in LEVELS[1:] if case.has(v) and case.species.level(v).zeta < zeta]
        if levels:
            change = f"zeta of {' and '.join(levels)} {zeta:g}"
            if zeta > 0.15:
                change += ", more than was measured (0.02 to 0.15)"
            changed = case.species.replace(**{level: {"zeta": zeta} for level in levels})
            yield _Remedy("zeta up to 0.3", change, changed, case.dt, case.clamp)


def _smaller_bundles(tree: Tree) -> Tree | None:
    """The same leaves in bundles half as large or less, where there is room for more."""
    foliage = tree.kind == FOLIAGE
    wood = tree.kind[tree.parent[foliage]] != FOLIAGE
    if not foliage.any() or not wood.all() or "leaf_area" not in tree.report.attributes:
        return None
    if foliage.sum() >= MAX_BUNDLES // 2:
        return None
    area = tree.area[foliage]
    return add_foliage(
        tree, leaf_area=float(area.sum()), largest=min(LARGEST_BUNDLE, 0.5 * float(area.max()))
    )


def _scaled(species: Species, name: str, factor: float) -> Species:
    return species.replace(
        **{level: {name: getattr(species.level(level), name) * factor} for level in LEVELS}
    )
