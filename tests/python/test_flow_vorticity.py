"""Vorticity confinement: the twin, where the force must be zero, symmetries, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from windgrove import _kernels, kernels, reference

SHAPES = [(3, 3, 3), (5, 5, 5), (4, 9, 12), (5, 6, 9), (6, 5, 11), (7, 8, 12), (6, 7, 150),
          (9, 60, 14), (18, 20, 21),
          (6, 6, 19), (6, 7, 20), (5, 7, 65), (6, 6, 66)]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.0, 0.03])
def test_the_kernel_equals_its_twin(isa, shape, share):
    """dt epsilon h = 0.01 here, so the force adds at most 0.06 to velocities of up to 5: half an
    ulp of those, and 30 roundings of the force, whose direction N loses where the gradient is
    small: 4e-6 (1.5e-6 seen)."""
    rng = np.random.default_rng(sum(shape))
    velocity = rng.normal(size=(3, *shape)).astype(np.float32)
    solid = rng.random(shape) < share if share else None
    got = kernels.confine_vorticity(velocity, 0.5, 1 / 30, 0.6, solid)
    expected = reference.confine_vorticity(velocity, 0.5, 1 / 30, 0.6, solid)
    assert got.shape == velocity.shape and got.dtype == np.float32
    assert_allclose(got, expected, rtol=0, atol=4e-6)
    if share == 0 and min(shape) > 4:
        assert not np.array_equal(got, velocity)


def test_the_force_is_that_of_a_known_field():
    """Shear u = y^2 / 2: omega = (0, 0, -y), |omega| = |y|, N = (0, sign y, 0), and so
    f = epsilon h (-y sign y, 0, 0) = -epsilon h |y| e_x. y is large enough to stay one-signed."""
    n, h, dt, epsilon = 14, 0.5, 0.1, 0.7
    y = (np.indices((8, n, 15))[1] + 3.0) * h
    velocity = np.stack([y**2 / 2, 0 * y, 0 * y])
    got = kernels.confine_vorticity(velocity, h, dt, epsilon)
    inside = (0, slice(2, -2), slice(2, -2), slice(2, -2))
    expected = velocity[0] - dt * epsilon * h * y
    assert_allclose(got[inside], expected[inside[1:]], rtol=4e-7)
    assert_array_equal(got[1:], velocity[1:].astype(np.float32))


@pytest.mark.parametrize("flow", ["uniform", "shear", "rotation"])
def test_no_force_where_the_vorticity_is_the_same_everywhere(flow):
    """Uniform wind has no vorticity; shear and solid rotation have a constant one. Rounding must
    not be amplified: the velocities come back to the bit, also in a fast mean wind."""
    z, y, x = np.indices((9, 17, 23)) * 0.31
    none = 0 * x
    velocity = {
        "uniform": [none + 6.1, none - 0.7, none + 0.03],
        "shear": [none + 11.3 + 0.123 * y - 0.77 * z, none, none + 1.7],
        "rotation": [none + 7.1 - 0.377 * y, 0.377 * x, none],
    }[flow]
    velocity = np.array(velocity, np.float32)
    assert_array_equal(kernels.confine_vorticity(velocity, 0.31, 1 / 30, 5.0), velocity)
    assert_array_equal(reference.confine_vorticity(velocity, 0.31, 1 / 30, 5.0), velocity)


def test_no_force_at_borders_in_solids_and_beside_them():
    rng = np.random.default_rng(1)
    velocity = rng.normal(size=(3, 9, 10, 21)).astype(np.float32)
    solid = rng.random((9, 10, 21)) < 0.05
    closed = solid.copy()
    closed[0] = closed[-1] = closed[:, 0] = closed[:, -1] = closed[..., 0] = closed[..., -1] = True
    near = closed.copy()
    for axis in range(3):
        near |= np.roll(closed, 1, axis) | np.roll(closed, -1, axis)
    got = kernels.confine_vorticity(velocity, 0.5, 1 / 30, 0.6, solid)
    changed = (got != velocity).any(axis=0)
    assert not changed[near].any()
    assert changed[~near].all() and (~near).sum() > 300


def test_epsilon_zero_changes_nothing_and_the_force_is_linear_in_it():
    velocity = np.random.default_rng(2).normal(size=(3, 8, 9, 14)).astype(np.float32)
    assert_array_equal(kernels.confine_vorticity(velocity, 0.5, 1 / 30, 0.0), velocity)
    once, twice = (
        kernels.confine_vorticity(velocity, 0.5, 1 / 30, e).astype(float) - velocity
        for e in (8.0, 16.0)
    )
    assert_allclose(twice, 2 * once, rtol=0, atol=2e-6)  # two roundings of velocities up to 8


@pytest.mark.parametrize("columns", [19, 33, 50, 70])
@pytest.mark.parametrize("solids", [False, True])
def test_instruction_sets_and_threads_change_no_bit(instruction_sets, solids, columns):
    rng = np.random.default_rng(3)
    velocity = rng.normal(size=(3, 9, 61, columns)).astype(np.float32)
    solid = rng.random(velocity.shape[1:]) < 0.05 if solids else None
    seen = []
    for name in instruction_sets:
        _kernels.force_isa(name)
        for threads in (1, 2, 7):
            seen.append(kernels.confine_vorticity(velocity, 0.5, 0.1, 0.6, solid, threads=threads))
    for other in seen[1:]:
        assert_array_equal(other.view(np.uint32), seen[0].view(np.uint32))


def mirrored(vector, flips):
    axes = [3 - axis for axis in range(3) if flips[axis]]
    signs = np.array([-1.0 if flip else 1.0 for flip in flips], np.float32)
    return np.flip(vector, axes) * signs[:, None, None, None]


@pytest.mark.parametrize("octant", range(8))
def test_mirrored_input_gives_mirrored_output(octant):
    """|omega| is a sum of three squares in a fixed order and each term only changes its sign in a
    mirror, so the bits agree."""
    flips = [bool(octant >> axis & 1) for axis in range(3)]
    velocity = np.random.default_rng(4).normal(size=(3, 9, 11, 21)).astype(np.float32)
    forced = kernels.confine_vorticity(velocity, 0.5, 0.1, 0.6)
    seen = kernels.confine_vorticity(mirrored(velocity, flips), 0.5, 0.1, 0.6)
    assert_array_equal(seen, mirrored(forced, flips))


def test_rotation_by_90_degrees_about_z_commutes():
    """Sums of squares are taken in another order: a few ulp of 4 (1.5 seen)."""
    velocity = np.random.default_rng(5).normal(size=(3, 9, 21, 21)).astype(np.float32)

    def turned(vector):
        u, v, w = np.rot90(vector, 1, (3, 2))
        return np.stack([-v, u, w])

    forced = kernels.confine_vorticity(velocity, 0.5, 0.1, 0.6)
    seen = kernels.confine_vorticity(turned(velocity), 0.5, 0.1, 0.6)
    assert_allclose(seen, turned(forced), rtol=0, atol=4 * 2.0**-22)


def test_the_force_is_across_the_vorticity_and_its_gradient():
    """N x omega stands across omega, so the force does too: checked on the twin's own omega."""
    rng = np.random.default_rng(6)
    velocity = rng.normal(size=(3, 9, 10, 15)).astype(np.float32)
    force = reference.confine_vorticity(velocity, 0.5, 1.0, 1.0) - velocity
    omega = np.array(
        [
            np.gradient(velocity[2], axis=1) - np.gradient(velocity[1], axis=0),
            np.gradient(velocity[0], axis=0) - np.gradient(velocity[2], axis=2),
            np.gradient(velocity[1], axis=2) - np.gradient(velocity[0], axis=1),
        ]
    )
    assert np.abs((force * omega).sum(axis=0)).max() < 1e-5 * np.abs(omega).max() ** 2


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e38])
def test_values_that_are_not_finite_stay_within_two_cells(isa, bad):
    velocity = np.random.default_rng(7).normal(size=(3, 12, 13, 30)).astype(np.float32)
    clean = kernels.confine_vorticity(velocity, 0.5, 0.1, 0.6)
    velocity[1, 6, 6, 14] = bad
    dirty = kernels.confine_vorticity(velocity, 0.5, 0.1, 0.6)
    touched = np.argwhere((dirty != clean).any(axis=0))
    assert (np.abs(touched - (6, 6, 14)).sum(axis=1) <= 2).all()


def test_out_is_written_and_may_be_the_input():
    velocity = np.random.default_rng(8).normal(size=(3, 6, 7, 12)).astype(np.float32)
    expected = kernels.confine_vorticity(velocity, 0.5, 0.1, 0.6)
    out = np.empty_like(velocity)
    assert kernels.confine_vorticity(velocity, 0.5, 0.1, 0.6, out=out) is out
    assert_array_equal(out, expected)
    kernels.confine_vorticity(velocity, 0.5, 0.1, 0.6, out=velocity)
    assert_array_equal(velocity, expected)


def test_bad_input_names_the_argument():
    good = {"velocity": np.zeros((3, 5, 5, 5)), "spacing": 0.5, "dt": 0.1, "epsilon": 0.3}
    for message, change in {
        "velocity: expected shape": {"velocity": np.zeros((5, 5, 5))},
        "velocity: expected at least 3": {"velocity": np.zeros((3, 5, 5, 2))},
        "spacing: expected a number above 0": {"spacing": -1},
        "dt: expected a number above 0": {"dt": 0},
        "epsilon: expected a number from 0": {"epsilon": -0.1},
        "epsilon: expected a finite": {"epsilon": np.inf},
        "dt: expected at most 1e.30 spacing": {"dt": 1e300},
        "epsilon: expected dt . epsilon of at most": {"epsilon": 1e300},
        "solid: expected shape": {"solid": np.zeros((5, 5, 6), bool)},
        "threads": {"threads": 65},
    }.items():
        with pytest.raises(ValueError, match=message):
            kernels.confine_vorticity(**{**good, **change})


@pytest.mark.parametrize(
    ("epsilon", "bound"),
    [
        (0.3, 0.03),
        pytest.param(1.0, 0.06, marks=pytest.mark.slow),
        pytest.param(3.0, 0.2, marks=pytest.mark.slow),
    ],
)
def test_the_energy_stays_bounded_over_10000_steps(epsilon, bound):
    """A closed box of noise (1 m/s a component, h = 0.5 m, dt = 1/30 s) is advected, confined and
    projected. The force grows as the speed, so it could feed an eddy for ever; what bounds it is
    advection, whose numerical viscosity grows as the speed too. The energy must fall below `bound`
    of its start within 100 steps and never come back. The bounds are three times the largest value
    seen after that (0.010, 0.020, 0.073); the late means are 0.0006, 0.006 and 0.056."""
    velocity = np.zeros((3, 10, 14, 14), np.float32)
    velocity[:, 1:-1, 1:-1, 1:-1] = np.random.default_rng(9).normal(size=(3, 8, 12, 12))
    start = float((velocity.astype(float) ** 2).sum())
    moved, worst = np.empty_like(velocity), 0.0
    for step in range(10_000):
        kernels.advect(velocity, velocity, 0.5, 1 / 30, out=moved)
        kernels.confine_vorticity(moved, 0.5, 1 / 30, epsilon, out=velocity)
        kernels.project(velocity, 0.5, method="direct", discretisation="consistent", out=moved)
        velocity, moved = moved, velocity
        if step >= 100 and step % 10 == 0:
            worst = max(worst, float(np.vdot(velocity, velocity)) / start)
    assert 0 < worst < bound
