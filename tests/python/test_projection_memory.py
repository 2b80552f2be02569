"""Sweeps alone, and memory that is used again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from projection_fields import EPS, field
from windgrove import _kernels, kernels, reference

SHAPES = [(18, 50, 50), (5, 7, 9), (3, 20, 11), (3, 3, 3), (10, 12, 16)]


def houses(shape):
    solid = np.zeros(shape, bool)
    solid[: shape[0] // 2, 2:6:2, 3:7] = True
    return solid


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("built", [False, True])
def test_sweeps_alone_equal_the_twin(shape, built):
    """A sweep is a mean: the rounding of 20 adds up to a few eps of the largest phi."""
    d = field(shape)[0]
    solid = houses(shape) if built else None
    seen = kernels.jacobi_sweeps(d, 0.5, solid)
    expected = reference.jacobi_sweeps(d, 0.5, solid)
    assert_allclose(seen, expected, rtol=0, atol=10 * EPS)
    start = field(shape, 3)[1]
    kernels.jacobi_sweeps(d, 0.5, solid, pressure=start, iterations=3)
    expected = reference.jacobi_sweeps(d, 0.5, solid, pressure=field(shape, 3)[1], iterations=3)
    assert_allclose(start, expected, rtol=0, atol=10 * EPS)


@pytest.mark.parametrize("built", [False, True])
def test_sweeps_alone_are_those_of_the_projection_to_rounding(built):
    """The divergence is rounded once more on its way through the caller's array."""
    u, solid = field((18, 50, 50)), houses((18, 50, 50)) if built else None
    phi = np.zeros(u.shape[1:], np.float32)
    kernels.project(u, 0.5, solid, pressure=phi)
    d = kernels.divergence(u, 0.5, solid, pressure=np.zeros_like(phi))
    assert_allclose(kernels.jacobi_sweeps(d, 0.5, solid), phi, rtol=0, atol=10 * EPS)


def test_threads_instruction_sets_and_memory_change_no_bit_of_the_sweeps():
    d = field((18, 50, 50))[0]
    one = kernels.jacobi_sweeps(d, 0.5)
    memory = kernels.projection_scratch(d.shape)
    out = np.full_like(d, np.nan)
    for threads in (1, 2, 5):
        assert kernels.jacobi_sweeps(d, 0.5, out=out, scratch=memory, threads=threads) is out
        assert_array_equal(out, one)
    before = _kernels.isa()
    _kernels.force_isa("scalar")
    try:
        assert_array_equal(kernels.jacobi_sweeps(d, 0.5), one)
    finally:
        _kernels.force_isa(before)


def test_one_sweep_moves_nothing_further_than_one_cell():
    d = np.zeros((9, 10, 11), np.float32)
    d[4, 4, 4] = np.nan
    assert np.isnan(kernels.jacobi_sweeps(d, 1.0, iterations=3)).sum() == 25
    d[4, 4, 4] = 6.0
    d[0], d[:, 0], d[:, :, -1] = np.nan, np.nan, np.nan
    phi = kernels.jacobi_sweeps(d, 1.0, iterations=1)
    assert phi[4, 4, 4] == -1.0 and np.count_nonzero(phi) == 1


@pytest.mark.parametrize(
    ("method", "discretisation", "built"),
    [
        ("jacobi", "compact", True), ("sor", "compact", True), ("multigrid", "compact", True),
        ("pcg", "consistent", True), ("direct", "compact", False),
        ("direct", "consistent", False),
    ],
)  # fmt: skip
def test_memory_used_again_changes_no_bit(method, discretisation, built):
    """Of other sizes, marks and forms in between too: each sets up anew."""
    shapes = [(9, 19, 21), (10, 12, 16)]
    size = max(
        kernels.projection_scratch(s, method=m, discretisation=f, solid=built).size
        for s in shapes
        for m, f in [(method, discretisation), ("jacobi", "compact")]
    )
    memory = np.zeros(size, np.uint8)
    for shape in (*shapes, *shapes, shapes[1]):
        u, solid = field(shape), houses(shape) if built else None
        options = {"method": method, "discretisation": discretisation}
        expected = kernels.project(u, 0.5, solid, **options)
        for _ in range(2):
            seen = kernels.project(u, 0.5, solid, scratch=memory, **options)
            assert_array_equal(seen, expected)
        kernels.jacobi_sweeps(u[0], 0.5, scratch=memory)
        assert_array_equal(kernels.project(u, 0.5, solid, scratch=memory, **options), expected)


def test_both_forms_of_the_direct_solver_share_memory():
    u = field((18, 50, 50))
    memory = kernels.projection_scratch(u.shape[1:], method="direct")
    for discretisation in ("compact", "consistent", "compact"):
        options = {"method": "direct", "discretisation": discretisation}
        expected = kernels.project(u, 0.5, **options)
        assert_array_equal(kernels.project(u, 0.5, scratch=memory, **options), expected)


def test_memory_that_does_not_fit_is_refused_by_name():
    u = field((8, 9, 10))
    memory = kernels.projection_scratch((8, 9, 10), method="direct")
    with pytest.raises(ValueError, match=r"scratch: expected at least \d+ bytes, got 64"):
        kernels.project(u, 0.5, scratch=memory[:64])
    with pytest.raises(TypeError, match="scratch"):
        kernels.project(u, 0.5, scratch=memory.view(np.int8))
    with pytest.raises(ValueError, match="scratch"):
        kernels.jacobi_sweeps(u[0], 0.5, scratch=memory[:100])
    with pytest.raises(ValueError, match="out"):
        kernels.jacobi_sweeps(u[0], 0.5, pressure=u[1].copy(), out=u[2].copy())
    with pytest.raises(ValueError, match="shape"):
        kernels.projection_scratch((8, 9))
    with pytest.raises(ValueError, match="shape"):
        kernels.projection_scratch((8, 0, 9))
    with pytest.raises(ValueError, match="method"):
        kernels.projection_scratch((8, 9, 10), method="pcg")


@pytest.mark.parametrize("iterations", [1, 2, 3, 4, 5, 8, 19])
@pytest.mark.parametrize("shape", [(18, 50, 50), (4, 5, 10), (34, 66, 66), (3, 3, 18), (7, 40, 21)])
@pytest.mark.parametrize("built", [False, True])
def test_sweeps_that_move_the_field_end_where_whole_sweeps_do(shape, iterations, built):
    """One thread sweeps a grid in one array, slab over slab; several take a band each; where the
    residual is asked for they use two arrays in turn. Any number of sweeps, full passes or not,
    from any start."""
    u, ends = field(shape), []
    solid = houses(shape) if built and shape[2] > 7 else None
    for threads in (1, 2, 3, 4):
        phi = field(shape, 3)[0]
        options = {"iterations": iterations, "pressure": phi, "threads": threads}
        ends.append((kernels.project(u, 0.5, solid, **options), phi))
    phi = field(shape, 3)[0]
    options = {"iterations": iterations, "pressure": phi, "threads": 2}
    ends.append((kernels.project_report(u, 0.5, solid, **options).velocity, phi))
    for out, phi in ends[1:]:
        assert_array_equal(out, ends[0][0])
        assert_array_equal(phi, ends[0][1])
