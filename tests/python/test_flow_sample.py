"""Sampling one field and nested grids: the twins, exactness, continuity, bad input."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from windgrove import _kernels, kernels, reference
from windgrove.wind.protocol import GridView, Prevailing, WindView

# A float32 trilinear value is seven lerps of a fraction rounded to 2^-24: a few ulp of the largest
# corner (1.5 ulp seen).
TRILINEAR = 4 * 2.0**-23


def nested(rng, base=(0.0, 0.0, 0.0), profile="none"):
    """Three nested grids of random velocities around `base`."""
    levels = []
    for n, spacing in enumerate((0.5, 1.0, 2.0)):
        cells = np.array([10, 8, 6]) + 2
        origin = np.array(base) - spacing * cells / 2 + (0.25, -0.5, 0.75)
        velocity = rng.uniform(-9, 9, (3, *cells[::-1])).astype(np.float32)
        levels.append(GridView(velocity, tuple(origin.tolist()), spacing * (1 + 0 * n)))
    return WindView(tuple(levels), Prevailing((6.0, 1.0, 0.5), profile, base[2] - 4, 10.0, 0.2))


@pytest.mark.parametrize("shape", [(3, 3, 3), (1, 1, 1), (1, 5, 2), (7, 4, 9), (2, 3, 5, 4)])
def test_the_kernel_equals_its_twin(shape):
    rng = np.random.default_rng(1)
    field = rng.uniform(-1, 1, shape)
    points = rng.uniform(-3, 8, (500, 3))
    got = kernels.sample(field, (0.3, -0.2, 0.1), 0.7, points)
    expected = reference.sample(field, (0.3, -0.2, 0.1), 0.7, points)
    assert got.shape == expected.shape and got.dtype == np.float32
    assert_allclose(got, expected, rtol=0, atol=TRILINEAR)


def test_cell_centres_return_their_value_to_the_bit():
    rng = np.random.default_rng(2)
    field = rng.normal(size=(3, 4, 5, 6)).astype(np.float32)
    k, j, i = np.indices((4, 5, 6)).reshape(3, -1)
    centres = np.array((8.0, -16.0, 4.0)) + 0.25 * (np.column_stack([i, j, k]) + 0.5)
    assert_array_equal(
        kernels.sample(field, (8.0, -16.0, 4.0), 0.25, centres), field.reshape(3, -1).T
    )


def test_points_beyond_the_outermost_centres_clamp():
    field = np.arange(24.0).reshape(2, 3, 4)
    inside = kernels.sample(field, (0, 0, 0), 1.0, [(0.5, 0.5, 0.5), (3.5, 2.5, 1.5)])
    far = kernels.sample(field, (0, 0, 0), 1.0, [(-1e30, -np.inf, 0.4), (4.0, 1e300, np.inf)])
    assert inside.tolist() == far.tolist() == [0.0, 23.0]


def test_a_world_far_from_zero_loses_nothing():
    """The shift is exact in double and the fractions are multiples of 2^-10: bits must agree."""
    rng = np.random.default_rng(3)
    view = nested(rng)
    points = np.round(rng.uniform(-12, 12, (400, 3)) * 1024) / 1024
    shift = np.array((2.0**22, -(2.0**21), 2.0**20))
    moved = WindView(
        tuple(
            GridView(v.velocity, tuple((v.origin + shift).tolist()), v.spacing) for v in view.levels
        ),
        view.outside,
    )
    near, far = kernels.sample_wind(view, points), kernels.sample_wind(moved, points + shift)
    assert_array_equal(near, far)
    field = view.levels[0].velocity
    assert_array_equal(
        kernels.sample(field, (0, 0, 0), 0.5, points),
        kernels.sample(field, shift, 0.5, points + shift),
    )


@pytest.mark.parametrize("profile", ["none", "log", "power"])
def test_the_nested_sample_equals_its_twin(isa, profile):
    """Cell coordinates are float32: 24 bits of at most 16 cells, times the steepest gradient of
    18 m/s a cell: 2e-5 m/s (1.1e-5 seen)."""
    rng = np.random.default_rng(4)
    view = nested(rng, base=(1000.0, -500.0, 30.0), profile=profile)
    points = rng.uniform(-14, 14, (4003, 3)) + np.array((1000.0, -500.0, 30.0))
    got = kernels.sample_wind(view, points)
    assert_allclose(got, reference.sample_wind(view, points), rtol=0, atol=2e-5)


def test_instruction_sets_and_threads_change_no_bit(instruction_sets):
    rng = np.random.default_rng(5)
    view = nested(rng, profile="log")
    points = rng.uniform(-14, 14, (5001, 3))
    seen = []
    for name in instruction_sets:
        _kernels.force_isa(name)
        seen += [kernels.sample_wind(view, points, threads=n) for n in (1, 2, 5)]
    for other in seen[1:]:
        assert_array_equal(other, seen[0])


def test_a_point_does_not_feel_the_points_beside_it():
    """Eight points share a vector; alone each must come out the same to the bit."""
    rng = np.random.default_rng(6)
    view = nested(rng, profile="power")
    points = rng.uniform(-14, 14, (64, 3))
    together = kernels.sample_wind(view, points)
    alone = np.concatenate([kernels.sample_wind(view, [p]) for p in points])
    assert_array_equal(together, alone)


def test_a_moving_point_sees_no_jump():
    """Along a line through all levels a step of 1e-4 m changes the wind by at most the steepest
    slope: trilinear 18 / 0.5 a metre and axis, plus the fade's 18 / 0.5: 36 * 2 * 1e-4."""
    view = nested(np.random.default_rng(7), profile="log")
    line = np.arange(-14, 14, 1e-4)[:, None] * [0.8, 0.52, 0.3]
    values = kernels.sample_wind(view, line)
    assert np.abs(np.diff(values, axis=0)).max() < 36 * 2 * 1e-4


def test_a_wind_that_is_the_same_everywhere_is_returned_to_the_bit():
    wind = np.array((6.1, -0.7, 0.3), np.float32)
    full = nested(np.random.default_rng(8))
    view = WindView(
        tuple(
            GridView(np.broadcast_to(wind[:, None, None, None], v.velocity.shape).copy(),
                     v.origin, v.spacing)
            for v in full.levels
        ),
        Prevailing(tuple(wind.tolist())),
    )  # fmt: skip
    points = np.random.default_rng(9).uniform(-14, 14, (3000, 3))
    assert (kernels.sample_wind(view, points) == wind).all()


def test_without_grids_the_prevailing_wind_blows():
    view = WindView((), Prevailing((6.0, 0.0, 1.0), "log", 2.0, 10.0, 0.03))
    got = kernels.sample_wind(view, [(0, 0, 12.0), (0, 0, 2.0), (0, 0, -50.0)])
    assert_allclose(got, [(6, 0, 1), (0, 0, 0), (0, 0, 0)], rtol=1e-6)


def test_a_point_that_is_not_finite_gives_nan_alone(isa):
    view = nested(np.random.default_rng(10))
    points = np.zeros((11, 3))
    points[3] = (np.nan, 0, 0)
    points[7] = (0, np.inf, 0)
    values = kernels.sample_wind(view, points)
    assert np.isnan(values).any(axis=1).nonzero()[0].tolist() == [3]
    assert values[7].tolist() == [6.0, 1.0, 0.5]
    field = kernels.sample(view.levels[0].velocity, (0, 0, 0), 1, points)
    assert np.isnan(field).any(axis=1).nonzero()[0].tolist() == [3]


def test_bad_input_names_the_argument():
    field = np.zeros((3, 3, 3))
    for message, arguments in {
        "field: expected shape": (np.zeros((3, 3)), (0, 0, 0), 1, [[0, 0, 0]]),
        "field: expected at least": (np.zeros((3, 0, 3)), (0, 0, 0), 1, [[0, 0, 0]]),
        "origin: expected shape": (field, (0, 0), 1, [[0, 0, 0]]),
        "origin: not finite": (field, (0, np.nan, 0), 1, [[0, 0, 0]]),
        "spacing: expected a number above 0": (field, (0, 0, 0), 0, [[0, 0, 0]]),
        "points: expected shape": (field, (0, 0, 0), 1, [0, 0, 0]),
    }.items():
        with pytest.raises(ValueError, match=message):
            kernels.sample(*arguments)
    with pytest.raises(ValueError, match="threads"):
        kernels.sample(field, (0, 0, 0), 1, [[0, 0, 0]], threads=0)
    with pytest.raises(TypeError, match="field: expected numbers"):
        kernels.sample(np.full((3, 3, 3), "x"), (0, 0, 0), 1, [[0, 0, 0]])
    assert kernels.sample(field, (0, 0, 0), 1, np.empty((0, 3))).shape == (0,)


@pytest.mark.parametrize("isa", ["scalar", "avx2"], indirect=True)
@pytest.mark.parametrize("profile", ["none", "log"])
def test_components_side_by_side_change_no_bit_of_a_sample(isa, profile):
    rng = np.random.default_rng(12)
    view = nested(rng, profile=profile)
    levels = []
    for level in view.levels:
        cells = np.full((*level.velocity.shape[1:], 4), np.nan, np.float32)
        _kernels.wind_cells(level.velocity, cells, 2)
        assert_array_equal(cells[..., :3], np.moveaxis(level.velocity, 0, -1))
        levels.append(replace(level, cells=cells))
    points = rng.uniform(-14, 14, (5000, 3))
    points[:16] *= 0.1  # eight of one grid, as most are
    points[40] = np.nan
    assert_array_equal(
        kernels.sample_wind(replace(view, levels=tuple(levels)), points).view(np.int32),
        kernels.sample_wind(view, points).view(np.int32),
    )


def test_cells_of_another_shape_are_named():
    view = nested(np.random.default_rng(1))
    wrong = replace(view.levels[0], cells=np.zeros((3, 3, 3, 4), np.float32))
    with pytest.raises(ValueError, match="cells"):
        kernels.sample_wind(replace(view, levels=(wrong,)), np.zeros((1, 3)))
