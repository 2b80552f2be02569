"""What a practitioner would change in a preset for a tree, why, and what it would do, in numbers.

The rules are those of people who tune such trees. A trunk that sways too far needs less drag, not
more stiffness, since stiffness raises the frequency too (GPU Zen 4, section 3.5). A clamped
twig needs a shorter step or a softer level. Every effect is recomputed with the change made.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import checks
from ..species.load import load_species
from ..species.species import LEVELS, Species
from ..trees.parameters import BranchParameters, branch_parameters
from ..trees.tree import Tree
from .frequencies import CLAMPS, LONGEST_STEP, DiscreteResponse, discrete_response
from .statics import steady_angle

LAW_FACTOR = 2.5  # field trees lie within this of the 1/H law
CLAMP_SHARE = 0.02
SIZE_MARGIN = 1.2


@dataclass(frozen=True)
class Effect:
    """One number before and after a change."""

    quantity: str
    before: float
    after: float
    unit: str = ""

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.quantity} {self.before:.3g} -> {self.after:.3g}{unit}"


@dataclass(frozen=True)
class Option:
    """One way out: a change, and what it does.

    `species`, `dt` and `clamp` are what to use instead of those given; what does not change is
    kept. `tree` is another tree, where that is the change, and `sway` further arguments of `Sway`.
    """

    change: str
    effects: tuple[Effect, ...]
    species: Species = field(repr=False)
    dt: float
    clamp: str
    tree: Tree | None = field(default=None, repr=False)
    sway: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.change}: " + "; ".join(str(effect) for effect in self.effects)


@dataclass(frozen=True)
class Advice:
    """One thing to change.

    Attributes
    ----------
    topic : str
        "size", "frequency", "sway", "thrown", "clamped", "overdamped", "undamped" or "resonance".
    level : str
        "trunk", "branch" or "foliage".
    finding : str
        What is the matter, in numbers.
    why : str
        The reason behind the advice, and what not to do.
    options : tuple of Option
        Best first; none for "size", which needs a measurement. Those of "thrown" have been run, and
        at least halve the number of branches.
    """

    topic: str
    level: str
    finding: str
    why: str
    options: tuple[Option, ...]

    def __str__(self) -> str:
        lines = [f"{self.topic} ({self.level}): {self.finding}", f"  why: {self.why}"]
        return "\n".join(lines + [f"  - {option}" for option in self.options])


@dataclass(frozen=True)
class AdviceReport:
    """All advice for a tree and a species; iterate over it, or print it."""

    items: tuple[Advice, ...]

    def __iter__(self) -> Iterator[Advice]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def topics(self) -> tuple[str, ...]:
        """Topics in order."""
        return tuple(item.topic for item in self.items)

    def __str__(self) -> str:
        return "\n".join(str(item) for item in self.items) or "nothing to change"


def advise(
    tree: Tree,
    species: Species | str | os.PathLike[str],
    *,
    dt: float = 1 / 30,
    wind_speed: float = 10.0,
    largest_sway_deg: float = 15.0,
    gust_frequency: float | None = None,
    clamp: str = "source",
) -> AdviceReport:
    """What to change in a species for a tree, and why.

    Parameters
    ----------
    tree : Tree
    species : Species, name or path
    dt : float, default 1/30 s
        Time step, or substep.
    wind_speed : float, default 10 m/s
        Steady wind across the branches, for the sway, and for a run of ten seconds from rest
        (along x) that shows which branches turn beyond 60 degrees, and what keeps them.
    largest_sway_deg : float, default 15
        Steady angle of the trunk that is still wanted at that wind; branches and foliage are
        looked at from four times it.
    gust_frequency : float, optional
        Hz, of the gusts of the wind that will blow.
    clamp : {"source", "compensated", "exponential", "none"}

    Returns
    -------
    AdviceReport
        Empty where nothing is amiss. Each `Advice` has options with recomputed effects; an
        option's `species`, `dt` and `clamp` can be used as they are. "thrown" is there where more
        than one in two hundred branches of a level turn beyond 60 degrees. Cost: a run of ten
        seconds, and a dozen where branches are thrown.

    Examples
    --------
    ``print(wg.advise(tree, "oak", wind_speed=20))``
    """
    case = _Case(
        tree,
        load_species(species),
        checks.number(dt, "dt", above=0, high=LONGEST_STEP),
        checks.choice(clamp, "clamp", CLAMPS),
        checks.number(wind_speed, "wind_speed", above=0),
    )
    limit = checks.number(largest_sway_deg, "largest_sway_deg", above=0, high=89)
    off = _frequency(case)
    # A trunk a decade off sways as it must: mend the frequency first.
    swaying = [item for item in _sway(case, limit) if not off or item.level != "trunk"]
    from .thrown import thrown

    items = [*_size(case), *off, *swaying, *thrown(case), *_clamped(case), *_damping(case)]
    if gust_frequency is not None:
        items += _resonance(case, checks.number(gust_frequency, "gust_frequency", above=0))
    return AdviceReport(tuple(items))


class _Case:
    """A tree with a species, and the numbers the rules look at."""

    def __init__(self, tree: Tree, species: Species, dt: float, clamp: str, wind: float) -> None:
        self.tree, self.species, self.dt, self.clamp, self.wind = tree, species, dt, clamp, wind
        self.parameters: BranchParameters = branch_parameters(tree, species)
        p = self.parameters
        self.response: DiscreteResponse = discrete_response(
            p.mass, p.stiffness, p.damping, dt, clamp
        )

    def changed(
        self, species: Species | None = None, dt: float | None = None, clamp: str | None = None
    ) -> _Case:
        return _Case(
            self.tree, species or self.species, dt or self.dt, clamp or self.clamp, self.wind
        )

    def has(self, level: str) -> bool:
        return bool((self.tree.kind == LEVELS.index(level)).any())

    def median(self, values: np.ndarray, level: str) -> float:
        return float(np.median(values[self.tree.kind == LEVELS.index(level)]))

    def frequency(self, level: str = "trunk") -> float:
        return self.median(self.parameters.frequency, level)

    def sway_deg(self, level: str = "trunk") -> float:
        """Median steady angle across the wind, with what the clamp makes of it."""
        p = self.parameters
        push = p.drag * self.wind / p.stiffness * self.response.deflection
        return math.degrees(steady_angle(self.median(push, level)))

    def clamped(self, level: str) -> float:
        """Share of a level whose stiffness the step limits."""
        if self.clamp not in ("source", "compensated"):
            return 0.0
        stiff = 2 * math.pi * self.parameters.frequency * self.dt > 1.0
        return float(np.mean(stiff[self.tree.kind == LEVELS.index(level)]))

    def largest_deflection(self, level: str) -> float:
        """Over that of the unclamped spring."""
        return float(self.response.deflection[self.tree.kind == LEVELS.index(level)].max())

    def option(self, change: str, other: _Case, *quantities: _Quantity) -> Option:
        effects = tuple(Effect(name, of(self), of(other), unit) for name, of, unit in quantities)
        return Option(change, effects, other.species, other.dt, other.clamp)


_Quantity = tuple[str, Callable[[_Case], float], str]


def _sway_of(level: str) -> _Quantity:
    return f"{level} steady sway", lambda case: case.sway_deg(level), "deg"


def _frequency_of(level: str) -> _Quantity:
    return f"{level} natural frequency", lambda case: case.frequency(level), "Hz"


def _share_of(level: str) -> _Quantity:
    return f"{level} clamped", lambda case: 100.0 * case.clamped(level), "%"


def _deflection_of(level: str) -> _Quantity:
    return (
        f"largest {level} deflection over the unclamped one",
        lambda case: case.largest_deflection(level),
        "x",
    )


def _decay_of(level: str) -> _Quantity:
    def seconds(case: _Case) -> float:
        rate = case.median(case.response.decay_rate, level)
        return 3.0 / rate if rate > 1e-9 else math.inf

    return f"{level} decay to 5 %", seconds, "s"


def _scaled(species: Species, name: str, factor: float, levels: tuple[str, ...]) -> Species:
    return species.replace(
        **{level: {name: getattr(species.level(level), name) * factor} for level in levels}
    )


def _size(case: _Case) -> list[Advice]:
    """A tree outside the sizes that the preset was calibrated on."""
    span = case.species.provenance.tree_height
    height = case.tree.wood_height
    if span is None or span[0] / SIZE_MARGIN <= height <= span[1] * SIZE_MARGIN:
        return []
    return [
        Advice(
            "size",
            "trunk",
            f"the wood is {height:.3g} m high; {case.species.name} was calibrated for "
            f"{span[0]:g} to {span[1]:g} m",
            "one beta makes the frequency of a bare tree fall as 1/length whatever its diameter, "
            "and that of one in leaf more slowly, by leaf mass over wood mass: fair for "
            "broadleaves over a modest range, wrong for conifers, which follow DBH/H^2; calibrate "
            "to a frequency of a tree of this size",
            (),
        )
    ]


def _frequency(case: _Case) -> list[Advice]:
    """A trunk far off the law of measured trees: usually a unit or a decade slipped."""
    height = max(case.tree.wood_height, 1.0)
    expected = 0.1096 + 1.671 / height
    seen = case.frequency()
    if expected / LAW_FACTOR <= seen <= expected * LAW_FACTOR:
        return []
    factor = (expected / seen) ** 2
    other = case.changed(_scaled(case.species, "beta", factor, ("trunk",)))
    return [
        Advice(
            "frequency",
            "trunk",
            f"the trunk's natural frequency is {seen:.3g} Hz; field broadleaves of "
            f"{height:.3g} m have about {expected:.2g} Hz (0.1096 + 1.671/H)",
            "beta is in kg m^-1 s^-2: the trunks of the presets have 1e5 to 2e6, and the frequency "
            "goes with its root",
            (
                case.option(
                    f"trunk.beta x {factor:.3g}, to {other.species.trunk.beta:.3g}",
                    other,
                    _frequency_of("trunk"),
                    _sway_of("trunk"),
                ),
            ),
        )
    ]


def _sway(case: _Case, limit: float) -> list[Advice]:
    found = []
    for level in LEVELS:
        wanted = limit if level == "trunk" else min(4.0 * limit, 80.0)
        if not case.has(level) or case.sway_deg(level) <= wanted:
            continue
        angle = math.radians(wanted)
        push = _push(case, level)
        factor = angle / math.cos(angle) / push
        less = case.changed(_scaled(case.species, "gamma", factor, LEVELS))
        stiff = case.changed(_scaled(case.species, "beta", 1.0 / factor, (level,)))
        found.append(
            Advice(
                "sway",
                level,
                f"the {level} stands at {case.sway_deg(level):.3g} deg in a steady wind of "
                f"{case.wind:g} m/s, {wanted:g} deg are wanted",
                f"lower gamma, not raise beta: beta x {1 / factor:.3g} would give the same angle "
                f"and raise the frequency from {case.frequency(level):.3g} to "
                f"{stiff.frequency(level):.3g} Hz, which looks like a smaller tree",
                (
                    case.option(
                        f"gamma x {factor:.3g} at all levels",
                        less,
                        _sway_of(level),
                        _frequency_of(level),
                    ),
                    *_less_propagation(case, level, factor),
                ),
            )
        )
    return found


def _less_propagation(case: _Case, level: str, factor: float) -> list[Option]:
    """Hand less on to the level, so that what grows on it moves as before."""
    if level == "foliage":
        return []
    of_level = case.tree.kind == LEVELS.index(level)
    p = case.parameters
    handed = (p.drag - p.direct_drag)[of_level].sum()
    excess = (1.0 - factor) * p.drag[of_level].sum()
    if excess >= handed:
        return []
    share = 1.0 - float(excess / handed)
    other = case.changed(_scaled(case.species, "propagation", share, (level,)))
    above = "foliage" if case.has("foliage") else "branch"
    quantities = [_sway_of(level), _sway_of(above)] if case.has(above) else [_sway_of(level)]
    return [case.option(f"{level}.propagation x {share:.3g}", other, *quantities)]


def _push(case: _Case, level: str) -> float:
    p = case.parameters
    return case.median(p.drag * case.wind / p.stiffness * case.response.deflection, level)


def _clamped(case: _Case) -> list[Advice]:
    found = []
    for level in LEVELS:
        if not case.has(level) or case.clamped(level) <= CLAMP_SHARE:
            continue
        of_level = case.tree.kind == LEVELS.index(level)
        high = float(np.quantile(case.parameters.frequency[of_level], 1.0 - CLAMP_SHARE / 2))
        bound = 1.0 / (2 * math.pi * case.dt)
        steps = max(math.ceil(high / bound), 2)
        finer = case.changed(dt=case.dt / steps)
        softer = case.changed(_scaled(case.species, "beta", (0.99 * bound / high) ** 2, (level,)))
        worst = case.largest_deflection(level)
        deflection = _deflection_of(level)
        options = [
            case.option(
                f"{steps} substeps, a step of {finer.dt:.3g} s", finer, _share_of(level), deflection
            ),
            case.option(
                f"{level}.beta x {(0.99 * bound / high) ** 2:.3g}",
                softer,
                _share_of(level),
                _frequency_of(level),
                _frequency_of("trunk"),
            ),
        ]
        if case.clamp == "source" and worst > 1.0:
            options.append(
                case.option('clamp="compensated"', case.changed(clamp="compensated"), deflection)
            )
        found.append(
            Advice(
                "clamped",
                level,
                f"{100 * case.clamped(level):.3g} % of the level are limited by the step of "
                f"{case.dt:.3g} s: what is set above {bound:.3g} Hz moves at "
                f"{1 / (6 * case.dt):.3g} Hz or a little more, deflections are up to x {worst:.3g}",
                "a clamped branch has neither the frequency nor the damping that is set; its "
                "stiffness is m/dt^2 whatever beta says",
                tuple(options),
            )
        )
    return found


def _damping(case: _Case) -> list[Advice]:
    found = []
    for level in LEVELS:
        if not case.has(level):
            continue
        zeta = case.species.level(level).zeta
        if zeta >= 1.0:
            found.append(_overdamped(case, level, zeta))
        elif zeta < 0.01:
            found.append(_undamped(case, level, zeta))
    return found


def _overdamped(case: _Case, level: str, zeta: float) -> Advice:
    other = case.changed(case.species.replace(**{level: {"zeta": 0.1}}))
    return Advice(
        "overdamped",
        level,
        f"{level}.zeta is {zeta:g}: the {level} creeps back without swinging",
        "measured trees have 0.02 to 0.15, production presets 0.05 to 0.15; from 1 on a spring "
        "does not oscillate, and more of it only slows the return",
        (case.option(f"{level}.zeta 0.1", other, _damped_of(level), _decay_of(level)),),
    )


def _undamped(case: _Case, level: str, zeta: float) -> Advice:
    other = case.changed(case.species.replace(**{level: {"zeta": 0.05}}))
    return Advice(
        "undamped",
        level,
        f"{level}.zeta is {zeta:g}: every gust is still there after many swings",
        "the least damped measured tree has 0.018; without damping energy only piles up",
        (case.option(f"{level}.zeta 0.05", other, _decay_of(level)),),
    )


def _damped_of(level: str) -> _Quantity:
    return (
        f"{level} frequency in a record",
        lambda case: case.median(case.response.damped_frequency, level),
        "Hz",
    )


def _gain(frequency: float, zeta: float, gusts: float) -> float:
    """Amplitude of a spring pushed at `gusts` Hz over its steady deflection."""
    r = gusts / frequency
    return 1.0 / math.hypot(1.0 - r * r, 2.0 * zeta * r)


def _resonance(case: _Case, gusts: float) -> list[Advice]:
    found = []
    for level in LEVELS:
        if not case.has(level):
            continue
        zeta = case.species.level(level).zeta
        gain = _gain(case.frequency(level), zeta, gusts)
        if gain < 2.0:
            continue
        found.append(_resonant(case, level, gusts, gain))
    return found


def _resonant(case: _Case, level: str, gusts: float, gain: float) -> Advice:
    species = case.species
    # Where a spring without damping would amplify by 2: half as fast again as the gusts.
    wanted = gusts * math.sqrt(2.0) if case.frequency(level) >= gusts else gusts / math.sqrt(1.5)
    factor = (wanted / case.frequency(level)) ** 2
    amplified: _Quantity = (
        f"{level} amplification at {gusts:.3g} Hz",
        lambda c: _gain(c.frequency(level), c.species.level(level).zeta, gusts),
        "x",
    )
    zeta = max(0.15, species.level(level).zeta)
    damped = case.changed(species.replace(**{level: {"zeta": zeta}}))
    moved = case.changed(_scaled(species, "beta", factor, (level,)))
    return Advice(
        "resonance",
        level,
        f"gusts of {gusts:.3g} Hz meet a {level} of {case.frequency(level):.3g} Hz with zeta "
        f"{species.level(level).zeta:g}: it swings {gain:.3g} times as far as in a steady wind",
        "real gusts spread over many frequencies: first see whether the wind should be so regular; "
        "damping limits the peak to 1/(2 zeta), stiffness moves it",
        (
            case.option(f"{level}.zeta {zeta:g}", damped, amplified),
            case.option(
                f"{level}.beta x {factor:.3g}",
                moved,
                amplified,
                _frequency_of(level),
                _sway_of(level),
            ),
        ),
    )
