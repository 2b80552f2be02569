"""Projection and divergence: twins, closed forms, promises of the docstrings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import windgrove
from projection_fields import EPS, SOLIDS, boxes, field
from windgrove import _kernels, kernels, reference

SHAPES = [(18, 50, 50), (5, 7, 9), (3, 20, 11), (12, 3, 4), (3, 3, 3), (10, 12, 16), (7, 34, 5)]


@pytest.mark.parametrize("method", ["jacobi", "sor"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", SOLIDS)
def test_sweeps_equal_their_twin(shape, kind, method):
    """20 sweeps average neighbours, so rounding does not grow: about 20 x 6 roundings of phi.

    Sealed pockets let phi drift by h^2 div / 6 a sweep (more over-relaxed), hence the scale on the
    largest |phi|.
    """
    u, solid = field(shape), SOLIDS[kind](shape)
    phi, twin = np.zeros(shape, np.float32), np.zeros(shape)
    seen = kernels.project(u, 0.5, solid, method=method, pressure=phi)
    expected = reference.project(u, 0.5, solid, method=method, pressure=twin)
    scale = 1 + abs(twin).max()
    assert_allclose(phi, twin, rtol=0, atol=20 * EPS * scale)
    assert_allclose(seen, expected, rtol=0, atol=40 * EPS * scale)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", SOLIDS)
def test_divergence_equals_its_twin(shape, kind):
    u, solid = field(shape), SOLIDS[kind](shape)
    phi = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    for pressure in (None, phi):
        seen = kernels.divergence(u, 0.5, solid, pressure=pressure)
        expected = reference.divergence(u, 0.5, solid, pressure=pressure)
        assert_allclose(seen, expected, rtol=0, atol=200 * EPS)


def test_divergence_of_a_linear_field_is_its_trace():
    """u = A x has div u = trace A, exactly representable here, and central differences are exact
    for linear fields."""
    z, y, x = np.meshgrid(*(np.arange(n) * 0.5 for n in (6, 7, 8)), indexing="ij")
    u = np.array([2 * x + y, -4 * y + z, 8 * z + x])
    d = kernels.divergence(u, 0.5)
    assert_array_equal(d[1:-1, 1:-1, 1:-1], 6.0)
    assert not d[[0, -1]].any() and not d[:, [0, -1]].any() and not d[:, :, [0, -1]].any()


def test_one_jacobi_sweep_is_the_printed_formula():
    """From zero, one sweep gives phi = -h^2 div / 6 and the velocity its central gradient."""
    shape, h = (6, 7, 8), 0.25
    u = np.zeros((3, *shape), np.float32)
    u[0, 3, 3, 3] = 1.0
    phi = np.zeros(shape, np.float32)
    out = kernels.project(u, h, iterations=1, pressure=phi)
    # div is 1/(2h) in the cell before it and -1/(2h) in the cell after it.
    expected = np.zeros(shape)
    expected[3, 3, 4], expected[3, 3, 2] = h / 12, -h / 12
    assert_allclose(phi, expected, rtol=2 * EPS)
    assert out[0, 3, 3, 3] == pytest.approx(1 - 1 / 12, rel=4 * EPS)


@pytest.mark.parametrize("kind", ["open", "boxes", "scattered"])
def test_a_constant_wind_is_a_fixed_point(kind):
    """Solids move with the wind here, so that nothing has to give way: exactly."""
    shape = (10, 14, 18)
    u = np.broadcast_to(np.float32([6.1, -2.3, 0.7])[:, None, None, None], (3, *shape))
    assert_array_equal(kernels.project(u, 0.5, SOLIDS[kind](shape)), u)


def test_border_and_solid_cells_keep_their_velocity():
    shape = (10, 14, 18)
    u, solid = field(shape), boxes(shape)
    out = kernels.project(u, 0.5, solid)
    keep = solid.copy()
    keep[[0, -1]] = keep[:, [0, -1]] = keep[:, :, [0, -1]] = True
    assert_array_equal(out[:, keep], u[:, keep])
    assert (out[:, ~keep] != u[:, ~keep]).mean() > 0.99


def test_jacobi_leaves_the_residual_of_the_slowest_mode():
    """The slowest mode of a box with phi = 0 around it shrinks by
    rho = (cos(pi/(nx+1)) + cos(pi/(ny+1)) + cos(pi/(nz+1))) / 3 a sweep."""
    n = np.array([14, 10, 6])
    z, y, x = np.meshgrid(*(np.arange(m + 2) for m in n[::-1]), indexing="ij")
    mode = np.sin(np.pi * x / 15) * np.sin(np.pi * y / 11) * np.sin(np.pi * z / 7)
    # A velocity whose divergence is the mode: u_x from summing it up over every second cell.
    u = np.zeros((3, *mode.shape))
    for i in range(2, mode.shape[2]):
        u[0, :, :, i] = u[0, :, :, i - 2] + 2 * mode[:, :, i - 1]
    rho = np.cos(np.pi / (n + 1)).sum() / 3
    report = kernels.project_report(u, 1.0, iterations=20)
    assert report.residual == pytest.approx(rho**20, rel=1e-5)


def test_solid_faces_let_nothing_through_at_the_faces():
    """A wall across the box: after many sweeps the face residual is small on both sides, and the
    air between two walls (sealed but for its rim) is stopped."""
    shape = (12, 12, 20)
    u = np.zeros((3, *shape), np.float32)
    u[0] = 5.0
    solid = np.zeros(shape, bool)
    solid[:, :, 10] = True
    u[:, solid] = 0
    phi = np.zeros(shape, np.float32)
    report = kernels.project_report(u, 0.5, solid, iterations=2000, pressure=phi)
    assert report.residual < 1e-4
    left = kernels.divergence(u, 0.5, solid, pressure=phi)
    assert np.linalg.norm(left) < 1e-4 * np.linalg.norm(
        kernels.divergence(u, 0.5, solid, pressure=np.zeros_like(phi))
    )


@pytest.mark.parametrize("method", ["jacobi", "sor"])
@pytest.mark.parametrize("axis", [1, 2, 3])
@pytest.mark.parametrize("kind", ["open", "boxes"])
def test_a_mirrored_input_gives_the_mirrored_result(axis, kind, method):
    """To the bit: every sum pairs the two neighbours along an axis first, and the colour that SOR
    begins with follows the field."""
    shape = (9, 12, 15)
    u, solid = field(shape), SOLIDS[kind](shape)
    sign = np.ones((3, 1, 1, 1), np.float32)
    sign[3 - axis] = -1
    mirrored_solid = None if solid is None else np.flip(solid, axis - 1)
    seen = kernels.project(np.flip(sign * u, axis), 0.5, mirrored_solid, method=method)
    expected = np.flip(sign * kernels.project(u, 0.5, solid, method=method), axis)
    assert_array_equal(seen, expected)


@pytest.mark.parametrize("method", ["jacobi", "sor"])
def test_a_quarter_turn_about_z_commutes(method):
    shape = (9, 12, 15)
    u, solid = field(shape), boxes(shape)

    def turn(v):
        x, y, z = (np.rot90(c, axes=(2, 1)) for c in v)
        return np.array([-y, x, z])

    seen = kernels.project(turn(u), 0.5, np.rot90(solid, axes=(2, 1)), method=method)
    assert_array_equal(seen, turn(kernels.project(u, 0.5, solid, method=method)))


@pytest.mark.parametrize("method", ["jacobi", "sor"])
@pytest.mark.parametrize("threads", [2, 3, 7])
@pytest.mark.parametrize("kind", ["open", "boxes"])
def test_the_thread_count_changes_no_bit(threads, kind, method):
    shape = (18, 50, 50)
    u, solid = field(shape), SOLIDS[kind](shape)
    one = kernels.project_report(u, 0.5, solid, method=method)
    many = kernels.project_report(u, 0.5, solid, method=method, threads=threads)
    assert_array_equal(many.velocity, one.velocity)
    assert_array_equal(many.pressure, one.pressure)
    assert many.residual == one.residual


@pytest.mark.parametrize("method", ["jacobi", "sor"])
@pytest.mark.parametrize("kind", ["open", "boxes"])
def test_the_instruction_set_changes_no_bit(instruction_sets, kind, method):
    shape = (10, 21, 27)
    u, solid = field(shape), SOLIDS[kind](shape)
    seen = []
    for isa in instruction_sets:
        _kernels.force_isa(isa)
        seen.append(kernels.project_report(u, 0.5, solid, method=method))
    for other in seen[1:]:
        assert_array_equal(other.velocity, seen[0].velocity)
        assert other.residual == seen[0].residual


def test_a_warm_start_continues_where_the_last_call_stopped():
    u, solid = field((9, 12, 15)), boxes((9, 12, 15))
    phi = np.zeros(solid.shape, np.float32)
    kernels.project(u, 0.5, solid, iterations=7, pressure=phi)
    seen = kernels.project(u, 0.5, solid, iterations=13, pressure=phi)
    assert_array_equal(seen, kernels.project(u, 0.5, solid, iterations=20))


def test_a_zero_right_side_returns_at_once_whatever_the_start():
    u = np.ones((3, 8, 8, 8), np.float32)
    phi = field((8, 8, 8))[0]
    report = kernels.project_report(u, 0.5, tolerance=1e-6, pressure=phi)
    assert report.iterations == 0 and report.residual == 0.0 and report.converged
    assert_array_equal(report.velocity, u)
    assert not phi.any()


def test_a_tolerance_stops_early_and_a_cap_warns_with_the_residual():
    u = field((10, 12, 14))
    loose = kernels.project_report(u, 0.5, tolerance=0.1, iterations=500)
    assert loose.converged and loose.residual <= 0.1 and loose.iterations < 30
    with pytest.warns(windgrove.NotConverged, match="residual") as caught:
        out = kernels.project(u, 0.5, tolerance=1e-6)
    assert_array_equal(out, kernels.project(u, 0.5))
    warning = caught[0].message
    assert warning.iterations == 20 and warning.tolerance == 1e-6
    assert warning.residual == kernels.project_report(u, 0.5).residual


def test_strided_read_only_double_and_list_inputs_are_converted_and_kept():
    u = field((8, 9, 10))
    expected = kernels.project(u, 0.5)
    strided = np.repeat(u.astype(np.float64), 2, axis=3)[..., ::2]
    strided.flags.writeable = False
    copy = strided.copy()
    assert_array_equal(kernels.project(strided, 0.5), expected)
    assert_array_equal(kernels.project(u.tolist(), 0.5), expected)
    assert_array_equal(strided, copy)


def test_out_may_be_the_input_itself_but_not_overlap_it():
    u = field((8, 9, 10))
    expected = kernels.project(u, 0.5)
    assert kernels.project(u, 0.5, out=u) is u
    assert_array_equal(u, expected)
    memory = np.zeros(u.size + 4, np.float32)
    a, b = memory[: u.size].reshape(u.shape), memory[4:].reshape(u.shape)
    with pytest.raises(ValueError, match="out: shares memory with velocity"):
        kernels.project(a, 0.5, out=b)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "cholesky"}, ValueError, "method: expected one of jacobi, sor"),
        ({"discretisation": "staggered"}, ValueError, "discretisation: expected one of"),
        ({"iterations": 0}, ValueError, "iterations"),
        ({"iterations": 2.5}, TypeError, "iterations"),
        ({"tolerance": 0}, ValueError, "tolerance"),
        ({"tolerance": np.nan}, ValueError, "tolerance"),
        ({"threads": 0}, ValueError, "threads"),
        ({"pressure": np.zeros((8, 9, 10))}, TypeError, "pressure: expected dtype float32"),
        ({"pressure": np.zeros((8, 9, 9), np.float32)}, ValueError, "pressure: expected shape"),
        ({"out": np.zeros((3, 8, 9, 9), np.float32)}, ValueError, "out: expected shape"),
        ({"solid": np.zeros((8, 9), bool)}, ValueError, "solid: expected shape"),
        ({"spacing": 0.0}, ValueError, "spacing"),
        ({"spacing": np.inf}, ValueError, "spacing"),
        ({"velocity": np.zeros((2, 8, 9, 10))}, ValueError, "velocity: expected shape"),
        ({"velocity": np.zeros((3, 0, 9, 10))}, ValueError, "velocity: expected at least one"),
        ({"velocity": np.zeros((3, 8, 9, 10), complex)}, TypeError, "velocity: expected numbers"),
    ],
)
def test_bad_input_names_the_argument(options, error, message):
    arguments = {"velocity": field((8, 9, 10)), "spacing": 0.5, **options}
    with pytest.raises(error, match=message):
        kernels.project(**arguments)


@pytest.mark.parametrize(
    ("method", "discretisation"),
    [
        ("jacobi", "consistent"),
        ("sor", "consistent"),
        ("multigrid", "consistent"),
        ("pcg", "compact"),
    ],
)
def test_refused_combinations_say_what_goes_with_what(method, discretisation):
    other = "compact" if discretisation == "consistent" else "consistent"
    with pytest.raises(ValueError, match=f"method: '{method}' goes with discretisation='{other}'"):
        kernels.project(field((6, 6, 6)), 0.5, method=method, discretisation=discretisation)


@pytest.mark.parametrize("shape", [(1, 5, 6), (2, 2, 2), (4, 1, 9), (1, 1, 1)])
def test_a_grid_without_interior_comes_back_as_it_is(shape):
    u = field(shape)
    assert_array_equal(kernels.project(u, 0.5), u)
    assert not kernels.divergence(u, 0.5).any()
