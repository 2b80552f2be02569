"""The nested wind: what the cascade itself promises, with closed forms."""

import itertools
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import windgrove as wg
from windgrove import kernels
from windgrove.wind.cascade import Wind
from windgrove.wind.inflow import NOISE_RMS, PERIOD, Turbulence

SMALL = {"cells": (12, 16, 8), "levels": 3, "cell_size": 0.5}


def centres(wind, level, border=True):
    """x, y, z of the cell centres, each broadcastable to (nz, ny, nx)."""
    nz, ny, nx = wind.velocity(level).shape[1:]
    x, y, z = (
        wind.origin(level)[axis] + wind.spacing(level) * (np.arange(count) + 0.5)
        for axis, count in enumerate((nx, ny, nz))
    )
    return x[None, None, :], y[None, :, None], z[:, None, None]


def write(wind, function):
    """Sets every grid to function(x, y, z) -> three arrays."""
    state = wind.state()
    for level in range(wind.levels):
        x, y, z = centres(wind, level)
        for component, values in enumerate(function(x, y, z)):
            state.velocity[level][component][...] = values
    wind.restore(state)


def random_walk(count, step=1.7, seed=3):
    return np.cumsum(np.random.default_rng(seed).uniform(-step, step, (count, 3)), axis=0)


@pytest.mark.parametrize("projection", ["source", "quality", "multigrid"])
def test_a_constant_wind_stays_constant_on_all_levels(projection):
    """1e-6 relative is 8 ulp; seen: 0 for the plain solver."""
    wind = Wind((6, -2, 0.5), **SMALL, turbulence=0.0, projection=projection)
    for focus in random_walk(25):
        wind.step(focus=focus)
    for level in range(3):
        expected = np.broadcast_to(
            np.array([6, -2, 0.5])[:, None, None, None], wind.velocity(level).shape
        )
        assert_allclose(wind.velocity(level), expected, rtol=0, atol=6e-6)


def test_a_moving_run_equals_a_resting_one_in_a_constant_wind():
    """Without noise and solids both are constant; seen: equal to the bit."""
    resting, moving = (Wind((5, 1, 0), **SMALL, turbulence=0.0) for _ in range(2))
    for focus in random_walk(10):
        resting.step()
        moving.step(focus=focus)
    for level in range(3):
        assert_allclose(moving.velocity(level), resting.velocity(level), rtol=0, atol=5e-6)


@pytest.mark.parametrize("seed", range(4))
def test_recentring_keeps_the_common_region_to_the_bit(seed):
    wind = Wind((3, 0, 0), **SMALL, turbulence=0.3)
    rng = np.random.default_rng(seed)
    state = wind.state()
    for velocity in (*state.velocity, *state.pressure):
        velocity[...] = rng.normal(size=velocity.shape)
    wind.restore(state)

    def cells_of(wind, level):
        """World cell -> velocity and pressure, interior only."""
        low = wind.state().low[level]
        values = np.concatenate([wind.velocity(level), wind.pressure(level)[None]])
        inside = values[:, 1:-1, 1:-1, 1:-1]
        return low, inside.copy()

    before = [cells_of(wind, level) for level in range(3)]
    compared = 0
    for focus in random_walk(6, step=2.5, seed=seed):
        lows = wind._place(np.asarray(focus))
        wind._move(lows)
        for level in range(3):
            low, now = cells_of(wind, level)
            old_low, old = before[level]
            here, there = common(now, low, old, old_low)
            assert_array_equal(here, there)
            compared += here.size
            before[level] = (low, now)
    assert compared > 10000


def common(now, low, old, old_low):
    """The same world cells in two arrays."""
    here, there = [slice(None)], [slice(None)]
    for axis in (2, 1, 0):
        size, shift = now.shape[3 - axis], int(low[axis] - old_low[axis])
        here.append(slice(max(-shift, 0), max(size - max(shift, 0), 0)))
        there.append(slice(max(shift, 0), max(size - max(-shift, 0), 0)))
    return now[tuple(here)], old[tuple(there)]


def test_new_cells_take_the_coarser_grid_and_the_prevailing_wind():
    """A linear field is trilinear on every grid, so new cells hold it to rounding."""
    wind = Wind((4, 0, 0), **SMALL, turbulence=0.0)

    def linear(x, y, z):
        return (1 + 0.1 * x + 0 * y + 0 * z, 0.2 * y - 0.05 * x + 0 * z, 0.03 * z + 0 * x + 0 * y)

    write(wind, linear)
    wind._move(wind._place(np.array([1.0, -2.0, 3.5])))
    for level in (0, 1):
        x, y, z = centres(wind, level)
        for component, expected in enumerate(linear(x, y, z)):
            # Values up to 4 in float32, four operations: a few ulp of 4 (4.8e-7 each).
            seen = wind.velocity(level)[component]
            assert_allclose(seen, np.broadcast_to(expected, seen.shape), rtol=0, atol=2e-6)
    wind._move(wind._place(np.array([1000.0, 0, 3.5])))
    assert_array_equal(wind.velocity(2)[0], np.full_like(wind.velocity(2)[0], 4))


def test_inner_grids_lie_on_whole_coarse_cells_inside_their_parent():
    for cells in [(4, 4, 4), (6, 4, 10), (48, 48, 16)]:
        wind = Wind((1, 0, 0), cells=cells, levels=5, cell_size=0.3, turbulence=0.0)
        for focus in random_walk(40, step=7.3):
            low = wind._place(focus)
            assert not np.any(low[:-1] % 2)
            for fine, coarse in itertools.pairwise(low):
                assert np.all(fine >= 2 * coarse)
                assert np.all(fine + cells <= 2 * (coarse + cells))
            centre = (low[0] + np.array(cells) / 2) * 0.3
            # One parent cell of snapping on each level above at most.
            assert np.all(np.abs(centre - focus) <= 0.3 * sum(2**n for n in range(1, 6)))


def test_no_grid_reaches_below_the_floor():
    wind = Wind((1, 0, 0), cells=(8, 8, 8), levels=3, cell_size=0.5, floor=2.0)
    for level in range(3):
        assert wind.origin(level)[2] + wind.spacing(level) == 2.0
    wind.step(focus=(0, 0, 100))
    assert wind.origin(0)[2] > 90


def test_a_floor_between_two_lattices_keeps_grids_inside_their_parents():
    """1.2 m is nearest to 1 m on the lattice of the finest grid and to 2 m on its parent's."""
    wind = Wind((1, 0, 0), cells=(8, 8, 8), levels=3, cell_size=0.5, floor=1.2, turbulence=0.0)
    for focus in [(0, 0, 0), (3, -7, 1.4), (0.3, 0.1, 3.0)]:
        low = wind._place(np.array(focus, dtype=float))
        for fine, coarse in itertools.pairwise(low):
            assert np.all(fine >= 2 * coarse)
            assert np.all(fine + 8 <= 2 * (coarse + 8))
        wind.step(focus=focus)


def test_coarse_cells_are_the_mean_of_their_fine_ones():
    wind = Wind((3, 0, 0), **SMALL)
    rng = np.random.default_rng(5)
    state = wind.state()
    for velocity in state.velocity:
        velocity[...] = rng.normal(size=velocity.shape)
    wind.restore(state)
    before = [wind.velocity(level).copy() for level in range(3)]
    for level in (0, 1):
        kernels_restrict(wind, level)
        fine = before[level] if level == 0 else wind.velocity(level).copy()
        low = wind.state().low
        first = (low[level] // 2 - low[level + 1] + 1)[::-1]
        inner = fine[:, 1:-1, 1:-1, 1:-1].astype(float)
        mean = inner.reshape(3, inner.shape[1] // 2, 2, inner.shape[2] // 2, 2, -1, 2).mean(
            axis=(2, 4, 6)
        )
        expected = before[level + 1].copy()
        where = tuple(slice(f, f + n) for f, n in zip(first, mean.shape[1:], strict=True))
        expected[(slice(None), *where)] = mean
        # Eight float32 numbers below 5 summed in pairs.
        assert_allclose(wind.velocity(level + 1), expected, rtol=0, atol=1e-6)


def kernels_restrict(wind, level):
    from windgrove import _kernels

    fine, coarse = wind._grids[level], wind._grids[level + 1]
    _kernels.cascade_restrict(coarse.fields, fine.fields, 1)


def test_the_seam_between_levels_stays_below_its_bound_for_a_smooth_field():
    """Trilinear interpolation of a sine of wavelength 16 h misses at most
    3 (k h)^2 / 8 sin/cos products of amplitude 1: k = 2 pi / 16 with h the coarse cell, 0.058 a
    direction where it varies; the fine border and the exact field differ by no more."""
    wind = Wind((0, 0, 0), cells=(32, 32, 16), levels=2, cell_size=0.5, turbulence=0.0)
    k = 2 * np.pi / 16.0

    def wave(x, y, z):
        return (
            np.sin(k * x) * np.cos(k * y) + 0 * z,
            -np.cos(k * x) * np.sin(k * y) + 0 * z,
            0 * x * y * z,
        )

    write(wind, wave)
    from windgrove import _kernels

    fine, coarse = wind._grids
    _kernels.cascade_inner_border(fine.fields, coarse.fields, 1)
    exact = [np.broadcast_to(v, fine.solid.shape) for v in wave(*centres(wind, 0))]
    border = np.ones(fine.solid.shape, bool)
    border[1:-1, 1:-1, 1:-1] = False
    worst = max(np.abs(wind.velocity(0)[c] - exact[c])[border].max() for c in range(3))
    # Points lie a quarter cell from a node: share (1/4)(3/4) of the bound's (1/2)(1/2), and
    # two directions vary: 2 * (k h)^2 / 8 * 3/4 with h = 1.
    bound = 2 * (k * 1.0) ** 2 / 8 * 0.75
    assert 0.1 * bound < worst < bound


def test_a_moving_point_sees_no_jump_at_the_seams():
    wind = Wind((4, 1, 0), **SMALL, turbulence=0.2, seed=2)
    for _ in range(5):
        wind.step()
    x = np.arange(-30, 30, 0.01)
    line = wind.sample(np.stack([x, 0.3 + 0 * x, 1.9 + 0 * x], axis=1))
    grid = np.abs(np.diff(wind.velocity(0), axis=-1)).max() / 0.5
    coarse = np.abs(np.diff(wind.velocity(2), axis=-1)).max() / 2.0
    # Slopes inside a grid are bounded by differences of neighbours; fading between two values over
    # one cell adds at most their difference (here below 2 m/s) over the finest cell.
    assert np.abs(np.diff(line, axis=0)).max() < 0.01 * (grid + coarse + 2 / 0.5)


def test_a_step_change_of_the_wind_is_carried_through_without_reflection():
    """After the front has left, nothing of the old wind remains: the border reflects nothing."""
    wind = Wind(lambda t: (8.0 if t > 0.2 else 4.0, 0, 0), **SMALL, turbulence=0.0)
    span = 12 * 2.0
    for _ in range(int(3 * span / 4 / wind.dt)):
        wind.step()
    for level in range(3):
        assert_allclose(wind.velocity(level)[0], 8.0, rtol=0, atol=1e-3)
        assert np.abs(wind.velocity(level)[1:]).max() < 1e-3


def test_the_border_carries_perlin_noise_of_the_stated_strength():
    """Against the noise kernel in double precision; the border's is float32 after the lattice
    coordinate: sums of order one, so a few 1e-7 times the amplitude 1.3 / 0.27."""
    wind = Wind(
        (6, 2, 0), **SMALL, seed=9, turbulence=Turbulence(strength=0.2, scale=3.0), start_time=77.5
    )
    x, y, z = np.broadcast_arrays(*centres(wind, 2))
    points = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    drift = np.mod(np.array([6, 2, 0]) * 77.5 / 3.0, PERIOD)
    speed = np.hypot(6, 2)
    for component, mean in enumerate((6, 2, 0)):
        noise = kernels.perlin(points / 3.0 - drift, seed=3 * 9 + component)
        expected = mean + 0.2 * speed / NOISE_RMS * noise
        seen = wind.velocity(2)[component].reshape(-1)
        assert_allclose(seen, expected, rtol=0, atol=1e-5)


def test_the_noise_has_the_stated_intensity():
    """8136 border cells over many steps; the estimate scatters by some percent."""
    wind = Wind((6, 0, 0), **SMALL, turbulence=0.1, seed=4)
    seen = []
    for _ in range(200):
        wind._steps += 15
        wind._inflow.advance(wind.time, 15 * wind.dt)
        wind._fill()
        seen.append(wind.velocity(2) - np.array([6, 0, 0], np.float32)[:, None, None, None])
    sd = np.std(seen, axis=(0, 2, 3, 4))
    assert_allclose(sd, 0.6, rtol=0.15)


@pytest.mark.parametrize("start", [0.0, 1e5, 1e9])
def test_the_noise_stays_smooth_for_ever(start):
    """At 1e5 s a float32 clock has steps of 8 ms and at 1e9 s of 64 s: steps of the border would
    repeat and jump. The double clock gives the same small steps at any time."""
    wind = Wind((6, 0, 0), **SMALL, turbulence=0.2, start_time=start)
    x_low = []
    for _ in range(40):
        wind._steps += 1
        wind._inflow.advance(wind.time, wind.dt)
        wind._move(None)
        x_low.append(wind.velocity(2)[0, 3, 5, 0])
    steps = np.diff(np.array(x_low, float))
    second = np.diff(steps)
    assert np.abs(steps).max() > 1e-4
    # 6 m/s for 1/30 s over a lattice of 8 m is 0.025 cells: second differences are of order
    # 0.025^2 times the noise's curvature (below 15) times the amplitude 1.2 / 0.27.
    assert np.abs(second).max() < 0.05


def test_the_noise_goes_on_without_a_seam_over_its_period():
    scale = 8.0
    once_round = scale * PERIOD / 6.0
    before = Wind((6, 0, 0), **SMALL, turbulence=Turbulence(strength=0.2, scale=scale))
    after = Wind(
        (6, 0, 0), **SMALL, turbulence=Turbulence(strength=0.2, scale=scale), start_time=once_round
    )
    assert_allclose(after.velocity(2), before.velocity(2), rtol=0, atol=1e-5)


@pytest.mark.parametrize("advection", ["semi_lagrangian", "maccormack"])
@pytest.mark.parametrize("threads", [2, 7])
@pytest.mark.parametrize("projection", ["source", "quality"])
def test_the_thread_count_changes_no_bit(threads, projection, advection):
    runs = []
    for count in (1, threads):
        wind = Wind(
            (6, 1, 0),
            **SMALL,
            seed=5,
            threads=count,
            projection=projection,
            advection=advection,
            solids=[wg.Box((1, -1, 0), (2, 1, 3))],
            effectors=[
                wg.LinearForce(position=(-2, 0, 2), velocity=(5, 0, 0), radius=1, acceleration=40)
            ],
        )
        for focus in random_walk(6):
            wind.step(focus=focus)
        runs.append(wind.state())
    for one, many in zip(runs[0].velocity, runs[1].velocity, strict=True):
        assert_array_equal(many, one)


def test_the_seed_decides_the_noise():
    def velocity(seed):
        return Wind((6, 0, 0), **SMALL, seed=seed).velocity(2)

    assert_array_equal(velocity(3), velocity(3))
    assert not np.array_equal(velocity(3), velocity(4))


def busy_wind(**options):
    return Wind(
        wg.GustWind((5, 1, 0), shape="periodic", amplitude=2, frequency=0.7),
        **SMALL,
        seed=11,
        solids=[wg.Box((1, -1, 0), (2, 1, 3)), wg.Sphere((-2, 1, 2), 0.8, velocity=(0.5, 0, 0))],
        effectors=[wg.Vortex(position=(0, 0, 2), radius=2, acceleration=5, start=0.1)],
        **options,
    )


@pytest.mark.parametrize("projection", ["source", "quality"])
def test_a_restored_wind_continues_to_the_last_bit(projection):
    walk = random_walk(12)
    wind = busy_wind(projection=projection)
    for focus in walk[:6]:
        wind.step(focus=focus)
    state, copied, pickled = wind.state(), wind.copy(), pickle.loads(pickle.dumps(wind))
    state = pickle.loads(pickle.dumps(state))
    for focus in walk[6:]:
        wind.step(focus=focus)
    fresh = busy_wind(projection=projection)
    fresh.restore(state)
    for other in (copied, pickled, fresh):
        for focus in walk[6:]:
            other.step(focus=focus)
        assert other.time == wind.time
        for level in range(3):
            assert_array_equal(other.velocity(level), wind.velocity(level))
            assert_array_equal(other.pressure(level), wind.pressure(level))
            assert_array_equal(other.solid(level), wind.solid(level))


def test_the_arrays_shown_are_live_and_read_only():
    wind = Wind((5, 0, 0), **SMALL, seed=1)
    velocity, pressure = wind.velocity(0), wind.pressure(0)
    before = velocity.copy()
    wind.step(focus=(3, 0, 2))
    assert velocity.shape == (3, 10, 18, 14)
    assert not np.array_equal(velocity, before)
    assert np.shares_memory(velocity, wind.velocity(0))
    assert pressure.any()
    with pytest.raises(ValueError, match="read-only"):
        velocity[0, 0, 0, 0] = 1


def test_time_is_a_whole_number_of_steps():
    wind = Wind((5, 0, 0), cells=(4, 4, 4), levels=1, dt=0.1, start_time=2.0)
    for _ in range(30):
        wind.step()
    assert wind.time == 2.0 + 30 * 0.1


def test_a_wind_refuses_any_time_but_its_own():
    wind = Wind((5, 0, 0), cells=(4, 4, 4), levels=1)
    wind.step()
    wind.sample([[0, 0, 1]], time=wind.time)
    with pytest.raises(ValueError, match="time: this wind stands at"):
        wind.sample([[0, 0, 1]], time=0.0)
    late = Wind((5, 0, 0), cells=(4, 4, 4), levels=1, start_time=1e6)
    with pytest.raises(ValueError, match="time: this wind stands at"):
        late.sample([[0, 0, 1]], time=1e6 + late.dt)


def test_the_outside_may_be_the_mean_of_the_simulated_region():
    wind = Wind((5, 0, 0), **SMALL, seed=3, outside="mean")
    for _ in range(5):
        wind.step()
    far = wind.sample([[1e4, 0, 2]])[0]
    mean = wind.velocity(2)[:, 1:-1, 1:-1, 1:-1].mean(axis=(1, 2, 3), dtype=float)
    assert_allclose(far, mean, rtol=1e-6)
    assert abs(far[0] - 5) > 1e-4


def test_a_height_profile_blows_in():
    wind = Wind((6, 0, 0), **SMALL, turbulence=0.0, profile="log", roughness=0.1, floor=0.0)
    z = np.array([0.25, 3.75, 12.0])
    seen = wind.sample(np.stack([0 * z, 0 * z, z], axis=1))
    expected = 6 * np.log1p(z / 0.1) / np.log1p(100)
    # Trilinear between cell centres of a concave profile: below the curve, most near the ground.
    assert_allclose(seen[1:, 0], expected[1:], rtol=0.01)


@pytest.mark.parametrize(
    "profile", [{"profile": "log", "roughness": 0.2}, {"profile": "power", "exponent": 0.3}]
)
def test_the_border_has_the_profile_of_the_prevailing_wind(profile):
    """float32 of a double-precision formula, both sides: one rounding."""
    source = wg.UniformWind((6, 2, 0), ground=-1.0, **profile)
    wind = Wind(source, **SMALL, turbulence=0.0)
    x, y, z = np.broadcast_arrays(*centres(wind, 2))
    expected = source.sample(np.stack([x, y, z], axis=-1).reshape(-1, 3)).T.reshape(3, *x.shape)
    assert_allclose(wind.velocity(2), expected, rtol=1e-6)
    assert (expected[0][0] == 0).all()


@pytest.mark.parametrize("levels", [1, 2, 5, 8])
def test_any_number_of_levels_and_the_smallest_grids_run(levels):
    wind = Wind((5, 0, 0), cells=(4, 6, 4), levels=levels, seed=1)
    for focus in random_walk(5):
        wind.step(focus=focus)
    assert np.isfinite(wind.velocity(levels - 1)).all()


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
@pytest.mark.parametrize("advection", ["semi_lagrangian", "maccormack"])
def test_the_energy_stays_bounded(epsilon, advection):
    """Field report 31: no blow-up. The full 10,000 steps run with the slow tests."""
    run_energy(epsilon, advection, steps=300)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("advection", ["semi_lagrangian", "maccormack"])
def test_the_energy_stays_bounded_over_ten_thousand_steps(epsilon, advection):
    run_energy(epsilon, advection, steps=10_000)


def run_energy(epsilon, advection, steps):
    wind = Wind(
        lambda t: (6 * np.cos(0.5 * t), 6 * np.sin(0.3 * t), 0),
        cells=(16, 16, 8),
        levels=2,
        vorticity=epsilon,
        advection=advection,
        solids=[wg.Box((-1, -1, 0), (1, 1, 3))],
    )
    for _ in range(steps):
        wind.step()
    fastest = max(np.abs(wind.velocity(level)).max() for level in range(2))
    # The inflow never exceeds 8.5 m/s plus noise; flow round a box speeds up by less than two.
    assert fastest < 30


@pytest.mark.parametrize(
    ("options", "error", "name"),
    [
        ({"cells": (5, 4, 4)}, ValueError, "cells"),
        ({"cells": (2, 4, 4)}, ValueError, "cells"),
        ({"cells": (4, 4)}, ValueError, "cells"),
        ({"cells": 8}, ValueError, "cells"),
        ({"levels": 0}, ValueError, "levels"),
        ({"levels": 9}, ValueError, "levels"),
        ({"cell_size": 0}, ValueError, "cell_size"),
        ({"dt": 0}, ValueError, "dt"),
        ({"dt": -1}, ValueError, "dt"),
        ({"turbulence": -0.1}, ValueError, "turbulence"),
        ({"turbulence": "much"}, TypeError, "turbulence"),
        ({"vorticity": float("nan")}, ValueError, "vorticity"),
        ({"projection": "perfect"}, ValueError, "projection"),
        ({"projection": 3}, TypeError, "projection"),
        ({"advection": "upwind"}, ValueError, "advection"),
        ({"outside": "none"}, ValueError, "outside"),
        ({"seed": -1}, ValueError, "seed"),
        ({"threads": 0}, ValueError, "threads"),
        ({"solids": [3]}, TypeError, "solids"),
        ({"effectors": [3]}, TypeError, "effectors"),
        ({"focus": (0, 0)}, ValueError, "focus"),
        ({"profile": "cubic"}, ValueError, "profile"),
    ],
)
def test_bad_input_names_the_argument(options, error, name):
    with pytest.raises(error, match=name):
        Wind((5, 0, 0), **options)


def test_a_bad_prevailing_wind_is_named_and_leaves_the_state():
    with pytest.raises(ValueError, match="prevailing"):
        Wind((5, 0))
    wind = Wind(lambda t: (1.0, 0, 0) if t < 0.1 else (np.nan, 0, 0), cells=(4, 4, 4), levels=1)
    for _ in range(2):
        wind.step()
    time = wind.time
    with pytest.raises(ValueError, match=r"prevailing\(time\)"):
        for _ in range(5):
            wind.step()
    assert wind.time - time < 0.1
    with pytest.raises(ValueError, match="focus"):
        wind.step(focus=(np.nan, 0, 0))
    with pytest.raises(ValueError, match="level"):
        wind.velocity(3)
    with pytest.raises(ValueError, match="state"):
        wind.restore(Wind((1, 0, 0), cells=(6, 4, 4), levels=1).state())


def test_another_wind_may_be_the_prevailing_one():
    class Mine:
        def sample(self, points, time=None):
            return np.full((len(points), 3), [2.0, 1.0, 0.0])

    wind = Wind(Mine(), cells=(4, 4, 4), levels=1, turbulence=0.0)
    wind.step()
    assert_allclose(wind.sample([[0, 0, 1]]), [[2, 1, 0]], atol=1e-6)
