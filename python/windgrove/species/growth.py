"""How a species grows: what `grow_tree` needs to know of its form."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from .. import checks

HABITS = ("decurrent", "excurrent", "palm", "shrub")
_OVAL = ((0.0, 0.5), (0.3, 1.0), (0.6, 0.9), (0.85, 0.5), (1.0, 0.05))


@dataclass(frozen=True)
class Growth:
    """The form of a species.

    Attributes
    ----------
    habit : {"decurrent", "excurrent", "palm", "shrub"}
        The stem loses itself in the crown; it runs through to the top with whorls; one stem with
        fronds; many stems from the ground.
    height, dbh : float, m
        A typical tree, and the one the preset was calibrated on. `dbh` is the diameter at 1.3 m
        (of a shrub: the thickest stem at its foot).
    crown_base : float, 0 to 0.95
        Height of the lowest branch over the tree's height.
    crown_width : float
        Diameter of the crown over the tree's height.
    outline : pairs (t, r)
        Half width of the crown in units of its greatest, t from 0 at the crown's base to 1 at the
        top, rising.
    leader : float, 0 to 1
        How far up the crown the stem of a decurrent tree stays one stem.
    twigs : int
        Points that the crown is filled with: more give more, shorter twigs.
    shell : float, 0 to 1
        How empty the inside of the crown is of twigs.
    wander : float
        How crooked shoots are; 0 is straight.
    lift : float
        Shoots turn up (above 0) or hang (below 0).
    rise : float
        The same near the stem alone, for branches that leave it steeply.
    stems : int
        Of a shrub.
    whorls, per_whorl : int
        Whorls of an excurrent tree and branches in each; fronds of a palm.
    side_shoots : float
        Side shoots on the longest branches of an excurrent tree.
    branch_angle : (low, high), degrees from the vertical
        Of the lowest and of the topmost branches or fronds.
    droop : float
        How much fronds and the side shoots of whorl branches hang; below 0 side shoots hang more.
    shoot_share : float, 0 to 1
        Part of the pipe model's cross-section that shoot length makes; the rest is made by tips.
    """

    habit: str
    height: float
    dbh: float
    crown_base: float = 0.25
    crown_width: float = 0.6
    outline: tuple[tuple[float, float], ...] = _OVAL
    leader: float = 0.3
    twigs: int = 1200
    shell: float = 0.5
    wander: float = 0.25
    lift: float = 0.0
    rise: float = 0.0
    stems: int = 12
    whorls: int = 26
    per_whorl: int = 5
    side_shoots: float = 5.0
    branch_angle: tuple[float, float] = (95.0, 45.0)
    droop: float = 0.0
    shoot_share: float = 0.4

    def __post_init__(self) -> None:
        checks.choice(self.habit, "habit", HABITS)
        checks.number(self.height, "height", above=0, high=150)
        checks.number(self.dbh, "dbh", above=0, high=15)
        checks.number(self.crown_base, "crown_base", low=0, high=0.95)
        checks.number(self.crown_width, "crown_width", above=0, high=5)
        for name in ("leader", "shell", "shoot_share"):
            checks.number(getattr(self, name), name, low=0, high=1)
        for name in ("wander", "lift", "rise", "droop"):
            checks.number(getattr(self, name), name, low=-5, high=5)
        checks.number(self.side_shoots, "side_shoots", low=0, high=40)
        for name, high in (("twigs", 20_000), ("stems", 200), ("whorls", 200), ("per_whorl", 100)):
            checks.integer(getattr(self, name), name, low=1, high=high)
        object.__setattr__(self, "branch_angle", tuple(float(a) for a in self.branch_angle))
        object.__setattr__(self, "outline", tuple((float(t), float(r)) for t, r in self.outline))
        self._check_outline()

    def _check_outline(self) -> None:
        places = [t for t, _ in self.outline]
        rising = all(a < b for a, b in itertools.pairwise(places))
        if len(places) < 2 or places[0] != 0 or places[-1] != 1 or not rising:
            raise ValueError("outline: expected (t, r) pairs with t rising from 0 to 1")
        if not all(0 <= r <= 10 for _, r in self.outline) or not any(r for _, r in self.outline):
            raise ValueError("outline: expected half widths r from 0 to 10, not all 0")
