"""Multigrid and conjugate gradients: tolerance met around any solids, against exact elimination."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from projection_fields import EPS, SOLIDS, boxes, cavity, field, norm, scattered
from windgrove import _kernels, kernels, reference
from windgrove.reference import projection as exact

METHODS = [("multigrid", "compact"), ("pcg", "consistent")]
SHAPES = [
    (18, 50, 50), (5, 7, 9), (3, 20, 11), (12, 3, 4), (3, 3, 3), (9, 19, 21), (33, 20, 7),
    (8, 8, 8), (3, 34, 34), (4, 70, 3),
]  # fmt: skip


def null_share(u, solid, discretisation, velocity=None, pressure=None):
    """Divergence left over divergence before, both without their null parts, in doubles."""
    marks = np.zeros(u.shape[1:], bool) if solid is None else solid
    inner = (slice(1, -1),) * 3
    if discretisation == "compact":
        matrix = exact.compact_matrix(marks, 0.5)
        before = reference.divergence(u, 0.5, solid, pressure=np.zeros(marks.shape))
        after = reference.divergence(u, 0.5, solid, pressure=pressure)
    else:
        matrix = exact.consistent_matrix(marks, 0.5)
        before = reference.divergence(u, 0.5, solid)
        after = reference.divergence(velocity, 0.5, solid)
    left, whole = (norm(exact.without_null(matrix, d[inner].ravel())) for d in (after, before))
    return left / whole if whole > 1e-9 else 0.0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", SOLIDS)
@pytest.mark.parametrize(("method", "discretisation"), METHODS)
def test_a_tolerance_of_1e_4_is_met_within_the_default_iterations(
    shape, kind, method, discretisation
):
    """Goal of the design. The null part is computed here by other means than in the kernel; the
    share seen from outside differs from the solver's by rounding alone."""
    u, solid = field(shape), SOLIDS[kind](shape)
    phi = np.zeros(shape, np.float32)
    options = {"method": method, "discretisation": discretisation, "tolerance": 1e-4}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = kernels.project(u, 0.5, solid, pressure=phi, **options)
    assert null_share(u, solid, discretisation, out, phi) < 1.01e-4


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.3, 0.4])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("method", "discretisation"), METHODS)
def test_random_solids_of_any_share_converge(share, seed, method, discretisation):
    shape = (14, 30, 26)
    solid = scattered(shape, seed, share)
    report = kernels.project_report(
        field(shape, seed), 0.5, solid, method=method, discretisation=discretisation,
        tolerance=1e-4,
    )  # fmt: skip
    assert report.converged and report.residual <= 1e-4 and report.iterations <= 20


@pytest.mark.parametrize("shape", [(5, 7, 9), (3, 20, 11), (8, 9, 10), (11, 12, 13)])
@pytest.mark.parametrize("kind", ["open", "boxes", "scattered", "crowded"])
@pytest.mark.parametrize(("method", "discretisation"), METHODS)
def test_the_velocity_is_that_of_exact_elimination(shape, kind, method, discretisation):
    """At a residual of 3e-6, and a smallest eigenvalue of some 1e-2 beside the diagonal, the
    velocity is right to 3e-4; the null parts of phi do not show in it."""
    u, solid = field(shape), SOLIDS[kind](shape)
    options = {"method": method, "discretisation": discretisation}
    seen = kernels.project(u, 0.5, solid, tolerance=3e-6, iterations=100, **options)
    assert_allclose(seen, reference.project(u, 0.5, solid, **options), rtol=0, atol=3e-4)


def at_rest(u, solid):
    """The field with solid and border cells at rest."""
    still = solid.copy()
    still[[0, -1]] = still[:, [0, -1]] = still[:, :, [0, -1]] = True
    return np.where(still, np.float32(0), u), solid


@pytest.mark.parametrize("kind", ["boxes", "scattered", "crowded", "cavity"])
def test_the_consistent_form_is_an_orthogonal_projection_around_solids(kind):
    """Repeating it changes nothing, energy never grows, and what was taken away is orthogonal to
    what stayed. To the tolerance asked for. (Around solids and borders that move, the projection
    is orthogonal to the set of fields with their velocity, and they may do work on the air.)"""
    shape = (11, 20, 23)
    u, solid = at_rest(field(shape), SOLIDS[kind](shape))
    options = {"method": "pcg", "discretisation": "consistent", "tolerance": 1e-6}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 1e-6 is at the edge of rounding here
        once = kernels.project(u, 0.5, solid, iterations=60, **options)
        twice = kernels.project(once, 0.5, solid, iterations=60, **options)
    assert_allclose(twice, once, rtol=0, atol=2e-5)
    taken = u.astype(np.float64) - once
    assert norm(once) < norm(u)
    assert abs((taken * once).sum()) < 1e-4 * norm(u) ** 2
    assert norm(taken) ** 2 + norm(once) ** 2 == pytest.approx(norm(u) ** 2, rel=1e-4)


@pytest.mark.parametrize("iterations", [1, 2, 3, 7])
def test_energy_does_not_grow_however_early_the_iteration_stops(iterations):
    """Conjugate gradients from zero minimise |u - G phi| over growing spaces: less at each step."""
    u, solid = at_rest(field((11, 20, 23)), boxes((11, 20, 23)))
    out = kernels.project(
        u, 0.5, solid, method="pcg", discretisation="consistent", iterations=iterations
    )
    assert norm(out) < norm(u)


@pytest.mark.parametrize(("method", "discretisation"), METHODS)
def test_solid_and_border_cells_keep_their_velocity(method, discretisation):
    shape = (10, 14, 18)
    u, solid = field(shape), boxes(shape)
    out = kernels.project(u, 0.5, solid, method=method, discretisation=discretisation)
    keep = solid.copy()
    keep[[0, -1]] = keep[:, [0, -1]] = keep[:, :, [0, -1]] = True
    assert_array_equal(out[:, keep], u[:, keep])


def test_nothing_flows_through_a_wall_with_a_sealed_room_behind_it():
    """Air at rest in a sealed room stays at rest while wind is stopped outside."""
    shape = (12, 16, 20)
    solid = np.zeros(shape, bool)
    solid[2:9, 3:12, 8:16] = True
    solid[3:8, 4:11, 9:15] = False
    u = np.zeros((3, *shape), np.float32)
    u[0] = 5.0
    room = np.zeros(shape, bool)
    room[3:8, 4:11, 9:15] = True
    u[:, solid | room] = 0
    for method, discretisation in METHODS:
        out = kernels.project(
            u, 0.5, solid, method=method, discretisation=discretisation, tolerance=1e-5,
            iterations=60,
        )  # fmt: skip
        assert abs(out[:, room]).max() < 1e-5 * 5
        assert abs(out - u)[:, ~solid].max() > 0.5


def test_a_moving_solid_pushes_the_air_around_it():
    """A block that moves at 3 m/s in still air: flux over a closed surface around it is what the
    border lets out, and the face next to it carries the block's velocity."""
    shape = (14, 16, 18)
    solid = np.zeros(shape, bool)
    solid[5:9, 6:10, 6:10] = True
    u = np.zeros((3, *shape), np.float32)
    u[0, solid] = 3.0
    phi = np.zeros(shape, np.float32)
    out = kernels.project(u, 0.5, solid, method="multigrid", tolerance=1e-5, pressure=phi)
    assert norm(kernels.divergence(u, 0.5, solid, pressure=phi)) < 1e-5 * norm(
        kernels.divergence(u, 0.5, solid, pressure=0 * phi)
    )
    # Ahead of it the air is pushed forwards, behind it follows, beside it flows back.
    assert out[0, 7, 8, 11] > 0.1 and out[0, 7, 8, 4] > 0.1 and out[0, 7, 11, 8] < -0.05


@pytest.mark.parametrize("kind", ["open", "boxes", "scattered"])
@pytest.mark.parametrize(("method", "discretisation"), METHODS)
def test_a_constant_wind_is_a_fixed_point(kind, method, discretisation):
    shape = (10, 14, 18)
    u = np.broadcast_to(np.float32([6.1, -2.3, 0.7])[:, None, None, None], (3, *shape))
    report = kernels.project_report(
        u, 0.5, SOLIDS[kind](shape), method=method, discretisation=discretisation
    )
    assert_array_equal(report.velocity, u)
    assert report.iterations == 0


@pytest.mark.parametrize(("method", "discretisation"), METHODS)
@pytest.mark.parametrize("kind", ["open", "boxes", "crowded"])
def test_threads_and_instruction_sets_change_no_bit(kind, method, discretisation):
    shape = (18, 34, 42)
    u, solid = field(shape), SOLIDS[kind](shape)
    options = {"method": method, "discretisation": discretisation, "tolerance": 1e-4}
    one = kernels.project_report(u, 0.5, solid, **options)
    for threads in (2, 3, 8):
        many = kernels.project_report(u, 0.5, solid, threads=threads, **options)
        assert_array_equal(many.velocity, one.velocity)
        assert many.residual == one.residual and many.iterations == one.iterations
    before = _kernels.isa()
    _kernels.force_isa("scalar")
    try:
        scalar = kernels.project_report(u, 0.5, solid, **options)
    finally:
        _kernels.force_isa(before)
    assert_array_equal(scalar.velocity, one.velocity)


@pytest.mark.parametrize("axis", [1, 2, 3])
@pytest.mark.parametrize(("method", "discretisation"), METHODS)
def test_a_mirrored_input_gives_the_mirrored_result(axis, method, discretisation):
    """To the tolerance: colours and coarse cells are counted from the low end."""
    shape = (9, 12, 15)
    u, solid = field(shape), boxes(shape)
    sign = np.ones((3, 1, 1, 1), np.float32)
    sign[3 - axis] = -1
    options = {
        "method": method, "discretisation": discretisation, "tolerance": 3e-6, "iterations": 60
    }  # fmt: skip
    seen = kernels.project(np.flip(sign * u, axis), 0.5, np.flip(solid, axis - 1), **options)
    expected = np.flip(sign * kernels.project(u, 0.5, solid, **options), axis)
    assert_allclose(seen, expected, rtol=0, atol=2e-4)


@pytest.mark.parametrize(("method", "discretisation"), METHODS)
def test_a_warm_start_needs_fewer_iterations(method, discretisation):
    shape = (14, 20, 26)
    u, solid = field(shape), boxes(shape)
    options = {"method": method, "discretisation": discretisation, "tolerance": 1e-4}
    phi = np.zeros(shape, np.float32)
    cold = kernels.project_report(u, 0.5, solid, pressure=phi, **options)
    again = kernels.project_report(u, 0.5, solid, pressure=phi.copy(), **options)
    assert again.iterations == 0 and again.converged
    nearly = (u + 0.01 * field(shape, 5)).astype(np.float32)
    warm = kernels.project_report(nearly, 0.5, solid, pressure=phi, **options)
    assert 0 < warm.iterations < cold.iterations


def test_null_modes_are_counted_and_their_part_is_left():
    """A sealed cavity of air whose walls push inwards: no pressure can answer the mean."""
    shape = (8, 10, 12)
    solid = np.zeros(shape, bool)
    solid[2:6, 3:7, 3:8] = True
    solid[3:5, 4:6, 4:7] = False
    u = np.zeros((3, *shape), np.float32)
    u[0, 3:5, 4:6, 3] = 1.0  # the low wall moves in, the high one rests
    report = kernels.project_report(u, 0.5, solid, method="multigrid", tolerance=1e-5)
    # By hand: each of the 4 rows of 3 cells gets -1/h in its first cell. The mean over the 12
    # cells is a third of that and holds the share sqrt(1/3) of the norm, inside the cavity; the
    # wall's outer face adds the same 4 cells outside.
    inside, outside = 4.0, 4.0
    assert report.null_modes == 1
    assert report.null_part == pytest.approx(np.sqrt(inside / 3 / (inside + outside)), rel=1e-5)
    left = kernels.divergence(u, 0.5, solid, pressure=report.pressure)
    assert_allclose(left[3:5, 4:6, 4:7], -1 / 0.5 / 3, rtol=1e-3)
    assert report.converged


def test_a_right_side_that_is_all_null_part_returns_at_once():
    shape = (5, 5, 5)
    solid = np.ones(shape, bool)
    solid[2, 2, 2] = False
    u = np.zeros((3, *shape), np.float32)
    u[0, 2, 2, 3] = 1.0
    for method, discretisation in METHODS:
        report = kernels.project_report(
            u, 0.5, solid, method=method, discretisation=discretisation, tolerance=1e-6
        )
        assert report.iterations == 0 and report.null_modes == 1 and report.converged
        assert report.null_part == pytest.approx(1.0)
        assert_array_equal(report.velocity, u)


@pytest.mark.parametrize(("method", "discretisation"), METHODS)
def test_a_cap_warns_and_returns_the_best_so_far(method, discretisation):
    u, solid = field((14, 20, 26)), boxes((14, 20, 26))
    options = {"method": method, "discretisation": discretisation, "iterations": 2}
    with pytest.warns(UserWarning, match=rf"project\(method='{method}'\): residual"):
        out = kernels.project(u, 0.5, solid, tolerance=1e-5, **options)
    plain = kernels.project_report(u, 0.5, solid, **options)
    assert_allclose(out, plain.velocity, rtol=0, atol=20 * EPS)
    assert plain.iterations == 2 and 1e-3 < plain.residual < 0.1


@pytest.mark.parametrize(("method", "discretisation"), METHODS)
def test_more_iterations_than_rounding_can_use_do_no_harm(method, discretisation):
    u, solid = field((10, 12, 14)), cavity((10, 12, 14))
    report = kernels.project_report(
        u, 0.5, solid, method=method, discretisation=discretisation, iterations=1000
    )
    assert report.iterations < 40 and report.residual < 3e-6


@pytest.mark.parametrize(
    "shape", [(5, 7, 9), (6, 6, 66), (5, 6, 67), (7, 9, 131), (9, 7, 33), (3, 3, 3), (17, 11, 5)]
)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5])
@pytest.mark.parametrize(("method", "discretisation"), METHODS)
def test_null_modes_are_those_of_the_matrix(shape, share, method, discretisation):
    """Rows of one, two and three words of bits, beside components found by other means."""
    solid = scattered(shape, 3, share)
    matrix = getattr(exact, f"{discretisation}_matrix")(solid, 0.5)
    _, label = exact.null_labels(matrix)
    air = ~solid[1:-1, 1:-1, 1:-1].ravel()  # the matrix has rows of zeros for solid cells
    report = kernels.project_report(
        field(shape), 0.5, solid, method=method, discretisation=discretisation, iterations=1
    )
    assert report.null_modes == len(set(label[air & (label >= 0)]))


def houses(shape, share=0.07):
    """A town on a grid of streets: houses of 4 x 4 cells and two thirds of the height."""
    solid = np.zeros(shape, bool)
    x, y = ((np.arange(n) - 1) % 12 < 4 for n in (shape[2], shape[1]))
    solid[: 2 * shape[0] // 3 - 1, 1:-1, 1:-1] = (y[:, None] & x[None])[1:-1, 1:-1]
    return solid


def sudden(shape):
    """A wind that starts at once."""
    return np.float32([5, 2, 0])[:, None, None, None] * np.ones(shape, np.float32)


def puff(shape):
    z, y, x = (np.linspace(-1, 1, n) for n in shape)
    r2 = x**2 + (y[:, None] - 0.2) ** 2 + z[:, None, None] ** 2
    return np.float32(np.stack([5 * np.exp(-4 * r2), 0 * r2, 0 * r2]))


@pytest.mark.parametrize("solids", [None, houses, boxes, scattered])
@pytest.mark.parametrize("wind", [field, puff, sudden])
def test_two_cycles_leave_a_third_of_what_twenty_jacobi_sweeps_leave(wind, solids):
    """Goal W9, 0.35 of it from zero; 0.05 to 0.25 as the code is. (The sudden wind has
    no divergence in the open.)"""
    shape = (18, 50, 50)
    u = wind(shape)
    solid = solids(shape, share=0.09) if solids else np.zeros(shape, bool)
    u[:, solid] = 0
    left = [
        kernels.project_report(u, 0.5, solid, method=method, iterations=iterations).residual
        for method, iterations in (("jacobi", 20), ("multigrid", 2))
    ]
    assert left[1] <= 0.35 * left[0]
