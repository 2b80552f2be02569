"""The direct solver of both discretisations, where no cell is solid."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from projection_fields import EPS, field, norm
from windgrove import _kernels, kernels, reference

# Even and odd counts of the interior, one cell thick, below and above the vector width.
SHAPES = [
    (18, 50, 50), (5, 7, 9), (3, 20, 11), (12, 3, 4), (3, 3, 3), (10, 12, 16), (7, 34, 5),
    (4, 4, 4), (9, 19, 21), (6, 18, 36),
]  # fmt: skip


def cell_norm(velocity):
    return norm(kernels.divergence(velocity, 0.5))


# Elimination takes minutes on the first; the residual tests cover its size.
@pytest.mark.parametrize("shape", SHAPES[1:])
@pytest.mark.parametrize("discretisation", ["compact", "consistent"])
def test_the_direct_solver_equals_elimination_in_double_precision(shape, discretisation):
    """Float32 sums of up to 24 terms four times over: some 10 eps of the potential. The wide
    operator is nearly singular on odd by even sizes (its smallest eigenvalue falls to a few
    1e-3), which shows in the (3, 20, 11) grid: 5e-6 seen."""
    u = field(shape)
    options = {"method": "direct", "discretisation": discretisation}
    expected = reference.project(u, 0.5, **options)
    assert_allclose(kernels.project(u, 0.5, **options), expected, rtol=0, atol=100 * EPS)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_compact_residual_is_rounding(shape):
    """A solution rounded to float32 leaves eps |L| |phi| / |div|: 3e-7 seen on white noise."""
    u = field(shape)
    report = kernels.project_report(u, 0.5, method="direct")
    assert report.residual < 2e-6 and report.iterations == 1
    faces = kernels.divergence(u, 0.5, pressure=report.pressure)
    assert np.linalg.norm(faces) < 2e-6 * cell_norm(u)


def smooth(shape, slope, seed=1):
    """A random field whose energy falls with the wavenumber to the power `slope`."""
    rng = np.random.default_rng(seed)
    k = np.sqrt(sum(f**2 for f in np.meshgrid(*map(np.fft.fftfreq, shape), indexing="ij")))
    k[0, 0, 0] = np.inf
    u = [
        np.fft.ifftn(np.fft.fftn(rng.normal(size=shape)) * k ** ((slope - 2) / 2)).real
        for _ in range(3)
    ]
    return (np.array(u) / np.std(u)).astype(np.float32)


def gust(shape):
    u = np.zeros((3, *shape), np.float32)
    u[0, 4:12, 15:35, 12:30] = 8.0
    return u


@pytest.mark.parametrize(
    "u",
    [field((18, 50, 50)), smooth((18, 50, 50), -5 / 3), gust((18, 50, 50))],
    ids=["white", "-5/3", "gust"],
)
def test_the_consistent_form_leaves_less_than_5e_6_at_cells(u):
    """Goal W2 of the design: divergence at cells after over before."""
    out = kernels.project(u, 0.5, method="direct", discretisation="consistent")
    assert cell_norm(out) < 5e-6 * cell_norm(u)


@pytest.mark.parametrize("wave", [(1, 1, 1), (5, 3, 2), (12, 9, 5), (20, 1, 9)])
def test_the_compact_form_leaves_part_of_a_mode_at_cells_whatever_the_solver(wave):
    """D G has the symbol sum sin^2(k h) where the compact Laplacian has sum 4 sin^2(k h / 2): of a
    sine mode of the divergence 1 - their ratio stays, at every cell two or more from the border
    (beside it a border cell takes part that is never corrected). 1e-5 of the mode seen."""
    n = np.array([24, 18, 10])
    angle = np.pi * np.array(wave) / (n + 1)
    z, y, x = np.meshgrid(*(np.arange(m + 2) for m in n[::-1]), indexing="ij")
    mode = np.sin(angle[0] * x) * np.sin(angle[1] * y) * np.sin(angle[2] * z)
    u = np.zeros((3, *mode.shape))
    for i in range(2, mode.shape[2]):
        u[0, :, :, i] = u[0, :, :, i - 2] + 2 * 0.5 * mode[:, :, i - 1]
    left = kernels.divergence(kernels.project(u, 0.5, method="direct"), 0.5)
    share = 1 - (np.sin(angle) ** 2).sum() / (4 * np.sin(angle / 2) ** 2).sum()
    inner = (slice(2, -2),) * 3
    assert_allclose(left[inner], share * mode[inner], rtol=0, atol=1e-4)


def test_of_white_noise_the_compact_form_leaves_two_thirds_at_cells():
    """The same shares over all modes, each weighted with its divergence sin^2(k h), give 0.67; the
    border adds a little: 0.69 seen, the figure of the design."""
    u = field((18, 50, 50))
    left = cell_norm(kernels.project(u, 0.5, method="direct")) / cell_norm(u)
    assert left == pytest.approx(0.69, abs=0.01)


@pytest.mark.parametrize("shape", [(18, 50, 50), (9, 19, 21), (6, 18, 36)])
def test_projecting_twice_changes_nothing_and_energy_never_grows(shape):
    """An orthogonal projection of the interior's velocity; 2e-6 of rounding seen."""
    u = field(shape)
    u[:, [0, -1]] = u[:, :, [0, -1]] = u[:, :, :, [0, -1]] = 0
    options = {"method": "direct", "discretisation": "consistent"}
    once = kernels.project(u, 0.5, **options)
    twice = kernels.project(once, 0.5, **options)
    assert_allclose(twice, once, rtol=0, atol=50 * EPS)
    energy = [np.sum(v.astype(np.float64) ** 2) for v in (u, once, twice)]
    assert energy[1] < energy[0]
    assert energy[2] <= energy[1] * (1 + 10 * EPS)
    # Orthogonal: the part that was taken away holds exactly the energy that is missing.
    taken = np.sum((u.astype(np.float64) - once) ** 2)
    assert taken + energy[1] == pytest.approx(energy[0], rel=1e-6)


@pytest.mark.parametrize("shape", [(5, 7, 9), (9, 19, 21), (3, 3, 3)])
def test_three_odd_counts_leave_one_null_mode(shape):
    """The sum of D u over cells at odd places telescopes to border velocities alone."""
    u = field(shape)
    report = kernels.project_report(u, 0.5, method="direct", discretisation="consistent")
    assert report.null_modes == 1
    d = kernels.divergence(u, 0.5).astype(np.float64)
    odd = d[1:-1:2, 1:-1:2, 1:-1:2]
    share = abs(odd.mean()) * np.sqrt(odd.size) / np.linalg.norm(d)
    assert report.null_part == pytest.approx(share, rel=1e-4)
    left = kernels.divergence(report.velocity, 0.5)
    left[1:-1:2, 1:-1:2, 1:-1:2] -= odd.mean()
    assert np.linalg.norm(left) < 5e-6 * np.linalg.norm(d)
    even = kernels.project_report(
        field((6, 7, 9)), 0.5, method="direct", discretisation="consistent"
    )
    assert even.null_modes == 0 and even.null_part == 0.0


@pytest.mark.parametrize("discretisation", ["compact", "consistent"])
@pytest.mark.parametrize(
    "u",
    [
        *(field(shape) for shape in SHAPES),
        gust((18, 50, 50)),
        np.round(4 * field((10, 12, 16))) / 4,
        1e-38 * field((10, 12, 16)),
        np.where(np.indices((10, 12, 16))[2] == 7, np.float32(1e38), 0) * np.ones((3, 1, 1, 1)),
    ],
    ids=[*map(str, SHAPES), "gust", "quarters", "subnormal", "overflow"],
)
def test_threads_and_instruction_sets_change_no_bit(u, discretisation):
    """Fused multiply-adds everywhere, which the baseline works out in double: sums of round
    numbers end half-way between two floats, tiny ones are subnormal, huge ones overflow."""
    u = np.asarray(u, np.float32)
    options = {"method": "direct", "discretisation": discretisation}
    one = kernels.project(u, 0.5, **options)
    for threads in (2, 5):
        assert_array_equal(kernels.project(u, 0.5, threads=threads, **options), one)
    before = _kernels.isa()
    _kernels.force_isa("scalar")
    try:
        scalar = kernels.project(u, 0.5, **options)
    finally:
        _kernels.force_isa(before)
    assert_array_equal(scalar, one)


@pytest.mark.parametrize("discretisation", ["compact", "consistent"])
def test_a_constant_wind_is_a_fixed_point(discretisation):
    u = np.broadcast_to(np.float32([6.1, -2.3, 0.7])[:, None, None, None], (3, 9, 12, 15))
    out = kernels.project(u, 0.5, method="direct", discretisation=discretisation)
    assert_array_equal(out, u)


@pytest.mark.parametrize("discretisation", ["compact", "consistent"])
@pytest.mark.parametrize("axis", [1, 2, 3])
def test_a_mirrored_input_gives_the_mirrored_result(axis, discretisation):
    """Within rounding: the elimination along y runs one way."""
    u = field((10, 12, 15))
    sign = np.ones((3, 1, 1, 1), np.float32)
    sign[3 - axis] = -1
    options = {"method": "direct", "discretisation": discretisation}
    seen = kernels.project(np.flip(sign * u, axis), 0.5, **options)
    expected = np.flip(sign * kernels.project(u, 0.5, **options), axis)
    assert_allclose(seen, expected, rtol=0, atol=50 * EPS)


def test_solid_cells_are_refused_with_what_goes_with_them():
    solid = np.zeros((8, 9, 10), bool)
    u = field(solid.shape)
    kernels.project(u, 0.5, solid, method="direct")
    solid[3, 3, 3:5] = True
    with pytest.raises(ValueError, match=r"method: 'direct'.*2 are solid.*'jacobi', 'sor' or"):
        kernels.project(u, 0.5, solid, method="direct")
    with pytest.raises(ValueError, match=r"method: 'direct'.*2 are solid.*'pcg'"):
        kernels.project(u, 0.5, solid, method="direct", discretisation="consistent")


def test_a_tolerance_that_rounding_cannot_meet_warns():
    with pytest.warns(UserWarning, match="residual"):
        kernels.project(field((8, 9, 10)), 0.5, method="direct", tolerance=1e-12)
    kernels.project(field((8, 9, 10)), 0.5, method="direct", tolerance=1e-5)
