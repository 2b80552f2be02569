"""Sway: instances of trees, and the state of their springs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..errors import Diverged
from ..kernels.sway import CLAMPS, DAMPING_RATES
from ..recording.interrupts import patient_interrupts
from ..species.load import load_species
from ..species.species import Species
from ..trees.tree import Tree
from .detail import DETAILS, detail_error, moving_kinds
from .feed import Feed
from .group import PARAMETER_NAMES, STATE_NAMES, Clock, Group, InstanceState, Placement, StepOptions
from .instance_parameters import own_parameters, parameters_of
from .placing import keys_of, quaternions_of

STATES = ("float32", "packed")
NOISE_FREQUENCIES = ("natural", "realised")
DRAG_LAWS = {"linear": 0.0, "quadratic": 1.0}

AnySpecies = Species | str | os.PathLike[str]


class Sway:
    """Trees that sway: instances of one or several specimens, each branch a damped spring.

    Parameters
    ----------
    tree : Tree or sequence of Tree
        One for all instances, or one for each. Instances of the same `Tree` object share its
        description and are stepped together.
    species : Species, name or path, or a sequence of them
        One for all instances, or one for each: a forest of variants.
    at : array_like, shape (m, 3) or (3,)
        World positions of the trees' origins [m].
    turn : float or array_like, shape (m,), (m, 3) or (m, 4)
        Angles about the vertical [rad], rotation vectors [rad], or unit quaternions (w, x, y, z).
    scale : float or array_like, shape (m,)
        Of the tree's points; the springs are those of the unscaled tree, as in the source.
    ids : array_like of int, shape (m,), optional
        What the noise of a tree is keyed by. By default it follows from the position, so that the
        order of the trees changes nothing and variants at one place share their noise.
    parameters : BranchParameters or mapping, optional
        `mass`, `stiffness`, `damping`, `drag`, each (n,) or (m, n), in place of what the species
        says; only with a single tree.
    noise : float
        Greatest angle by which gradient noise turns the wind about the vertical [rad].
    noise_frequency : {"natural", "realised"}
        Speed of that noise: the branch's natural frequency, as in the source, or the one that the
        clamped step realises.
    seed : int
        Of the noise.
    state : {"float32", "packed"}
        Packed motion takes 15 bytes a branch, 21 where it carries others, in place of 36: at most
        20 on average unless more than five sixths carry others, as in a chain (see `state_bytes`;
        rows are rounded up to eight branches). It holds no torsion; `windgrove.packing_error`
        says what it costs.
    clamp, inertia, damping_rate, torsion
        Parts of the step; see `windgrove.kernels.step_springs`. Torsion is on by default unless
        the state is packed.
    limit_turn : bool
        At most half a turn a step. Without it a branch thrown violently enough can lock into one
        whole turn a step, where the spring pulls as hard as the damping brakes, for ever.
    drag_law : {"linear", "quadratic"} or float
        A number is a Vogel exponent E: the torque grows as speed^(2 + E); linear is E = -1.
    reference_speed : float
        Speed at which all drag laws give the same torque [m/s], 1e-3 to 1e3.
    substeps : int
        Steps of the springs in each frame.
    threads : int
        1 to 64; changes no bit of the result.

    Attributes
    ----------
    trees, species : tuple
        Of every instance.
    at, turn, scale, ids : ndarray
        Of every instance; copies.
    time : float
        [s], moved by `step` and `simulate`.

    Examples
    --------
    >>> import windgrove as wg
    >>> sway = wg.Sway(wg.grow_tree("birch", seed=1), "birch", at=[(0, 0, 0), (8, 0, 0)])
    >>> sway.step(wg.UniformWind((5, 0, 0)), dt=1 / 30)
    >>> sway.rotation.shape[0], sway.steps
    (2, 1)
    """

    def __init__(
        self,
        tree: Tree | Sequence[Tree],
        species: AnySpecies | Sequence[AnySpecies],
        at: ArrayLike = ((0.0, 0.0, 0.0),),
        *,
        turn: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        ids: ArrayLike | None = None,
        parameters: Any = None,
        state: str = "float32",
        noise: float = 0.3,
        noise_frequency: str = "natural",
        seed: int = 0,
        clamp: str = "source",
        inertia: bool = True,
        damping_rate: str = "relative",
        torsion: bool | None = None,
        limit_turn: bool = True,
        drag_law: str | float = "linear",
        reference_speed: float = 10.0,
        substeps: int = 1,
        threads: int = 1,
    ) -> None:
        self.state_kind = checks.choice(state, "state", STATES)
        self.seed = checks.integer(seed, "seed", low=0, high=2**64 - 1)
        self.substeps = checks.integer(substeps, "substeps", low=1, high=10_000)
        self.options = StepOptions(
            clamp=checks.choice(clamp, "clamp", CLAMPS),
            inertia=checks.flag(inertia, "inertia"),
            damping_rate=checks.choice(damping_rate, "damping_rate", DAMPING_RATES),
            torsion=_torsion(torsion, self.state_kind),
            limit_turn=checks.flag(limit_turn, "limit_turn"),
            noise=checks.number(noise, "noise", low=0.0, high=np.pi),
            noise_frequency=checks.choice(noise_frequency, "noise_frequency", NOISE_FREQUENCIES),
            drag_exponent=drag_exponent(drag_law),
            reference_speed=checks.number(reference_speed, "reference_speed", low=1e-3, high=1e3),
            threads=checks.threads(threads),
        )
        self._groups: list[Group] = []
        self._where = np.zeros((0, 2), dtype=np.intp)  # group and slot of every instance
        self._species: list[Species] = []
        self._ids = np.zeros(0, dtype=np.int64)
        self._feed: Feed | None = None  # of the last wind
        self._fault: tuple[Diverged, Group, int] | None = None
        self._base_time, self._dt, self._counted = 0.0, 0.0, 0
        self.steps = 0
        self.add(tree, species, at, turn=turn, scale=scale, ids=ids, parameters=parameters)

    # -- instances -------------------------------------------------------------------------------

    def add(
        self,
        tree: Tree | Sequence[Tree],
        species: AnySpecies | Sequence[AnySpecies],
        at: ArrayLike = ((0.0, 0.0, 0.0),),
        *,
        turn: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        ids: ArrayLike | None = None,
        parameters: Any = None,
    ) -> NDArray[np.intp]:
        """Add instances, at rest; the others go on undisturbed. Returns their indices."""
        trees = [tree] if isinstance(tree, Tree) else list(tree) if np.iterable(tree) else []
        if not trees or not all(isinstance(item, Tree) for item in trees):
            raise TypeError(f"tree: expected a Tree or a sequence of them, got {tree!r}")
        one = isinstance(species, (Species, str, os.PathLike)) or not np.iterable(species)
        given: Any = [species] if one else species
        kinds = [load_species(item) for item in given]
        if not kinds:
            raise ValueError("species: expected one, or one for each tree; got none")
        place = np.atleast_2d(checks.array(at, "at", dtype=np.float64, finite=True))
        if place.shape[1:] != (3,):
            raise ValueError(f"at: expected shape (m, 3), got {np.shape(at)}")
        own = own_parameters(parameters, trees)
        count = _common_length(
            tree=len(trees),
            species=len(kinds),
            at=len(place),
            ids=1 if ids is None else int(np.size(ids)),
            parameters=1 if own is None else len(own["mass"]),
            scale=int(np.size(scale)),
            turn=1 if np.ndim(turn) == 0 else len(np.atleast_1d(np.asarray(turn))),
        )
        if count == 0:
            return np.zeros(0, dtype=np.intp)
        place = np.repeat(place, count, axis=0) if len(place) == 1 else place
        ids, key = keys_of(ids, place, self.seed)
        placement = Placement(
            np.ascontiguousarray(place), quaternions_of(turn, count), _scales(scale, count), key
        )
        first = len(self)
        self._ids = np.concatenate([self._ids, ids])
        self._add_by_tree(_each(trees, count), _each(kinds, count), placement, own)
        return np.arange(first, first + count)

    def _add_by_tree(
        self,
        trees: list[Tree],
        kinds: list[Species],
        placement: Placement,
        own: dict[str, NDArray[np.float64]] | None,
    ) -> None:
        where = np.empty((len(trees), 2), dtype=np.intp)
        for tree in {id(t): t for t in trees}.values():
            index = np.array([i for i, t in enumerate(trees) if t is tree])
            number = next((i for i, g in enumerate(self._groups) if g.tree is tree), None)
            if number is None:
                number = len(self._groups)
                self._groups.append(Group(tree, packed=self.state_kind == "packed"))
            group = self._groups[number]
            where[index, 0] = number
            where[index, 1] = len(group) + np.arange(len(index))
            own_here = parameters_of(tree, [kinds[i] for i in index]) if own is None else own
            group.add(placement.take(index), own_here)
        self._where = np.concatenate([self._where, where])
        self._species += kinds

    def remove(self, index: ArrayLike) -> None:
        """Remove instances by index; later ones move up, states go on undisturbed."""
        gone = np.unique(checks.array(index, "index", dtype=np.int64, ndmin=1))
        if gone.size and not (gone[0] >= 0 and gone[-1] < len(self)):
            raise ValueError(f"index: expected 0 to {len(self) - 1}, got {index!r}")
        stay = np.setdiff1d(np.arange(len(self)), gone)
        where = self._where[stay]
        for number, group in enumerate(self._groups):
            mine = np.flatnonzero(where[:, 0] == number)
            slots = where[mine, 1]
            order = np.sort(slots)
            group.keep(order)
            where[mine, 1] = np.searchsorted(order, slots)
        used = [i for i, group in enumerate(self._groups) if len(group)]
        self._groups = [self._groups[i] for i in used]
        where[:, 0] = np.searchsorted(used, where[:, 0])
        self._where = where
        self._species = [self._species[i] for i in stay]
        self._ids = self._ids[stay]

    def __len__(self) -> int:
        return len(self._where)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_feed": None}  # the wind is not part of the trees

    @property
    def groups(self) -> tuple[Group, ...]:
        """The specimens, each with the arrays of its instances."""
        return tuple(self._groups)

    @property
    def trees(self) -> tuple[Tree, ...]:
        return tuple(self._groups[g].tree for g in self._where[:, 0])

    @property
    def tree(self) -> Tree:
        """The first instance's tree."""
        if not len(self):
            raise ValueError("sway: there is no tree left")
        return self._groups[self._where[0, 0]].tree

    @property
    def species(self) -> tuple[Species, ...]:
        return tuple(self._species)

    @property
    def ids(self) -> NDArray[np.int64]:
        return self._ids.copy()

    def _placed(self, name: str) -> NDArray[Any]:
        values = [getattr(group.placement, name) for group in self._groups]
        return np.array([values[g][s] for g, s in self._where])

    @property
    def at(self) -> NDArray[np.float64]:
        return self._placed("place").reshape(-1, 3)

    @property
    def turn(self) -> NDArray[np.float32]:
        """(m, 4) unit quaternions that take tree axes to world axes."""
        return self._placed("turn").reshape(-1, 4)

    @property
    def scale(self) -> NDArray[np.float32]:
        return self._placed("scale")

    @property
    def branch_count(self) -> int:
        """Branches of all instances together."""
        return sum(len(group) * len(group.tree) for group in self._groups)

    @property
    def state_bytes(self) -> int:
        """Bytes of the state of all instances together.

        For an instance of n branches of which c carry others, both rounded up to eight: 36 n, or
        15 n + 6 c where the state is packed.
        """
        return sum(group.state_bytes for group in self._groups)

    @property
    def widest(self) -> int:
        """Branches of the largest tree."""
        return max((len(group.tree) for group in self._groups), default=0)

    # -- state -----------------------------------------------------------------------------------

    def state(self, instance: int = 0) -> InstanceState:
        """Live float32 views (n, 3) of one instance's motion, in tree axes; write to move it.

        Read-only copies where the state is packed: there `set_state` moves it.
        """
        instance = checks.integer(instance, "instance", low=0, high=len(self) - 1)
        group, slot = self._where[instance]
        return self._groups[group].state(int(slot))

    def _gathered(self, name: str) -> NDArray[np.float32]:
        out = np.full((len(self), self.widest, 3), np.nan, np.float32)
        for number, group in enumerate(self._groups):
            mine = np.flatnonzero(self._where[:, 0] == number)
            n = len(group.tree)
            values = getattr(group, name)[self._where[mine, 1], :, :n]
            out[mine, :n] = values.transpose(0, 2, 1)
        return out

    @property
    def rotation(self) -> NDArray[np.float32]:
        """(m, n, 3) rotation vectors relative to rest, in tree axes [rad]; a copy.

        n is the largest tree's branch count; smaller trees end in NaN.
        """
        return self._gathered("rotation")

    @property
    def angular_velocity(self) -> NDArray[np.float32]:
        """(m, n, 3) [rad/s]; a copy, as `rotation`."""
        return self._gathered("angular_velocity")

    def set_state(
        self,
        rotation: ArrayLike = 0.0,
        angular_velocity: ArrayLike = 0.0,
        *,
        previous_rotation: ArrayLike | None = None,
        instance: int | None = None,
    ) -> None:
        """Set the motion of one instance or of all; what broadcasts to (n, 3) is taken.

        `previous_rotation` defaults to `rotation`: the tree was held there.
        """
        before = rotation if previous_rotation is None else previous_rotation
        chosen = range(len(self)) if instance is None else [instance]
        for i in chosen:
            i = checks.integer(i, "instance", low=0, high=len(self) - 1)
            number, slot = self._where[i]
            group = self._groups[number]
            shape = (len(group.tree), 3)
            given = (rotation, before, angular_velocity)
            pairs = zip(given, STATE_NAMES, strict=True)
            group.write(int(slot), [_fitting(values, name, shape) for values, name in pairs])

    @property
    def detail(self) -> tuple[str, ...]:
        """Of every instance: "full", "wood", "trunk" or "frozen"."""
        return tuple(DETAILS[3 - self._groups[g].kinds[s]] for g, s in self._where)

    def set_detail(self, detail: str, instance: ArrayLike | None = None) -> None:
        """Choose what moves: everything, wood alone, trunks alone, or nothing.

        Parameters
        ----------
        detail : {"full", "wood", "trunk", "frozen"}
            Branches that do not move keep their angle and velocity and are carried by those that
            do, so that nothing jumps when the detail changes.
        instance : int or array_like of int, optional
            All by default.
        """
        count = moving_kinds(detail)
        chosen = np.arange(len(self)) if instance is None else np.atleast_1d(instance)
        for i in chosen:
            number, slot = self._where[checks.integer(i, "instance", low=0, high=len(self) - 1)]
            self._groups[number].kinds[slot] = count

    def detail_error(self, viewpoint: ArrayLike, *, speed: float = 8.0) -> NDArray[np.float64]:
        """What each detail leaves out, as seen from a point.

        Parameters
        ----------
        viewpoint : array_like, shape (3,)
            [m]
        speed : float
            Wind in which the branches are taken at their static angle [m/s].

        Returns
        -------
        numpy.ndarray, shape (m, 4)
            Angle [rad] under which the rms missing displacement of a tree's far ends is seen, for
            "full" (0), "wood", "trunk" and "frozen".
        """
        return detail_error(self, viewpoint, speed)

    def choose_detail(
        self, viewpoint: ArrayLike, *, tolerance: float = 1e-3, speed: float = 8.0
    ) -> None:
        """Give every tree the coarsest detail whose error from `viewpoint` is below `tolerance`.

        The default, 1e-3 rad, is about a pixel of a screen 60 degrees wide.
        """
        tolerance = checks.number(tolerance, "tolerance", low=0.0)
        error = self.detail_error(viewpoint, speed=speed)
        for i, row in enumerate(error):
            self.set_detail(DETAILS[int(np.flatnonzero(row <= tolerance)[-1])], i)

    def reset(self) -> None:
        """Everything at rest and the clock at 0."""
        self.set_state()
        self._base_time, self._dt, self._counted, self.steps = 0.0, 0.0, 0, 0

    # -- time ------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        # A product, not a sum: the clock does not drift and does not know how steps were grouped.
        return self._base_time + self._counted * self._dt

    def _tick_with(self, dt: float) -> None:
        if dt != self._dt:
            self._base_time, self._dt, self._counted = self.time, dt, 0

    def step(self, wind: Any = None, dt: float = 1 / 30, steps: int = 1) -> None:
        """Advance by `steps` frames of `dt` seconds in a wind.

        Parameters
        ----------
        wind : anything with ``sample(points, time)``, or None
            A `Wind` is sampled as it stands and not stepped; `simulate` steps it.
        dt : float
            [s]
        steps : int

        Raises
        ------
        windgrove.Diverged
            A state is not finite: step, instance and branch are named and the state is kept.
        """
        dt = checks.number(dt, "dt", above=0.0)
        steps = checks.integer(steps, "steps", low=0)
        if self._feed is None or self._feed.wind is not wind:
            self._feed = Feed(wind)
        with patient_interrupts() as check:
            self._advance(self._feed, dt, steps, check=check)

    def _advance(
        self,
        feed: Feed,
        dt: float,
        frames: int,
        record: Any = None,
        *,
        raise_diverged: bool = True,
        check: Callable[[], None] | None = None,
    ) -> None:
        """`frames` frames in one wind feed; `record` gives each group what to write.

        Without `raise_diverged` a tree that diverges stops there and the others go on.
        """
        self._tick_with(dt)
        if raise_diverged:
            self._refuse_diverged()
        per = self.substeps
        most = 1 if frames <= 1 else feed.frames_at_once(self.branch_count * per)
        done = 0
        while done < frames:
            block = min(most, frames - done)
            clock = Clock(self._base_time, self._counted * per, dt / per)
            faults = self._advance_block(feed, clock, block * per, done, record, raise_diverged)
            if faults and raise_diverged:
                self._diverged(feed, *faults)
            done += block
            self._counted += block
            self.steps += block
            if check is not None:
                check()

    def _advance_block(
        self,
        feed: Feed,
        clock: Clock,
        steps: int,
        done: int,
        record: Any,
        stop: bool,
    ) -> Any:
        """Steps a block; what `_diverged` needs where a state is not finite, else None."""
        found = None
        for at, count in feed.parts(steps):
            now = clock.later(at)
            saved = [group.snapshot() for group in self._groups] if count > 1 else None
            if feed.in_grids:
                feed.prepare(now, self.branch_count * count, self.options.threads)
            faults: list[tuple[int, int, int, int]] = []
            for number, group in enumerate(self._groups):
                wind = feed.for_group(group, now, count)
                out = None if record is None else record(number, done, at, count)
                fault = group.run(self.options, clock=now, wind=wind, steps=count, record=out)
                if fault is not None:
                    faults.append((fault[0], number, fault[1], fault[2]))
            if faults:
                found = found or (min(faults), now, saved, at)
                if stop:
                    return found
        return found

    def _diverged(
        self,
        feed: Feed,
        fault: tuple[int, int, int, int],
        clock: Clock,
        saved: list[Any] | None,
        at: int,
    ) -> None:
        step, number, slot, branch = fault
        if saved is not None:
            # All trees back, and then to the very step that failed, so that they agree in time.
            for group, arrays in zip(self._groups, saved, strict=True):
                group.restore(arrays)
                wind = feed.for_group(group, clock, step + 1)
                group.run(self.options, clock=clock, wind=wind, steps=step + 1)
        frames = (at + step) // self.substeps
        self._counted += frames
        self.steps += frames
        instance = int(np.flatnonzero((self._where == (number, slot)).all(axis=1))[0])
        group = self._groups[number]
        cause = _cause(group, slot, branch, feed, clock.after(step + 1))
        self._fault = Diverged(self.steps, instance, branch, *cause), group, slot
        raise self._fault[0]

    def _refuse_diverged(self) -> None:
        """What diverged stays so: its first cause again, until the state is finite once more."""
        if self._fault is not None:
            error, group, slot = self._fault
            if not np.isfinite(group.rotation[slot]).all():
                raise error.with_traceback(None)
            self._fault = None


def _cause(group: Group, slot: int, branch: int, feed: Feed, time: float) -> tuple[str, str]:
    """The quantity that is not finite, and a hint at the parameter behind it."""
    if not feed.is_finite(group, slot, branch, time):
        return "wind", "the wind at this branch is not finite"
    which = min(slot, group.sets - 1)
    values = {name: float(group.parameters[name][which, branch]) for name in PARAMETER_NAMES}
    name = "rotation"
    if np.isfinite(group.rotation[slot, :, branch]).all():
        name = "angular_velocity"
    text = ", ".join(f"{key} {values[key]:.3g}" for key in PARAMETER_NAMES[:4])
    return name, f"its parameters: {text}"


def _torsion(torsion: bool | None, state: str) -> bool:
    if state != "packed":
        return True if torsion is None else checks.flag(torsion, "torsion")
    if torsion:
        raise ValueError("torsion: a packed state holds none")
    return False


def _fitting(values: ArrayLike, name: str, shape: tuple[int, int]) -> NDArray[np.float32]:
    given = checks.array(values, name, dtype=np.float32, finite=True)
    try:
        return np.broadcast_to(given, shape)
    except ValueError:
        raise ValueError(f"{name}: shape {given.shape} does not fit {shape}") from None


def drag_exponent(law: str | float) -> float:
    """The exponent of `windgrove/forest.h` for a `drag_law`: 0 for the linear one."""
    if isinstance(law, str):
        return DRAG_LAWS[checks.choice(law, "drag_law", DRAG_LAWS)]
    return 1.0 + checks.number(law, "drag_law", low=-2.0, high=2.0)


def _common_length(**lengths: int) -> int:
    count = 1
    for name, size in lengths.items():
        if size == 0:
            return 0
        if size != 1 and count not in (1, size):
            raise ValueError(f"{name}: has {size} entries where others have {count}")
        count = max(count, size)
    return count


def _each(items: list[Any], count: int) -> list[Any]:
    return items * count if len(items) == 1 else items


def _scales(scale: ArrayLike, count: int) -> NDArray[np.float32]:
    values = checks.array(scale, "scale", dtype=np.float32, finite=True)
    if (values <= 0).any():
        raise ValueError("scale: expected numbers above 0")
    return np.ascontiguousarray(np.broadcast_to(values.ravel(), (count,)))
