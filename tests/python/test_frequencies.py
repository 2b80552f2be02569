"""The discrete spring: the table of closed forms, the map itself stepped, and the limits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import windgrove as wg
from windgrove.analysis.frequencies import discrete_response

DT = 1 / 30
# f0, zeta, damped f, zeta from decay and damped f, decay (1/s): derived by hand from the map's
# trace and determinant and checked there on 20,000 random springs; printed to 4 digits.
TABLE = [
    (0.3, 0.05, 0.3001, 0.0501, 0.0945),
    (1, 0.05, 1.0059, 0.0502, 0.3175),
    (2, 0.10, 2.0492, 0.1014, 1.3124),
    (4, 0.05, 4.2190, 0.0494, 1.3124),
    (8, 0.05, 5.2382, 0.0833, 2.7508),
    (15, 0.05, 5.4616, 0.1626, 5.6566),
]


def spring(frequency, zeta, mass=3.0):
    omega = 2 * math.pi * np.asarray(frequency, dtype=float)
    return mass, mass * omega**2, 2 * zeta * mass * omega


@pytest.mark.parametrize(("f0", "zeta", "damped", "ratio", "decay"), TABLE)
def test_the_clamped_spring_has_the_tabled_frequency_and_decay(f0, zeta, damped, ratio, decay):
    """Half a unit of the last printed digit."""
    r = discrete_response(*spring(f0, zeta), DT)
    assert r.damped_frequency == pytest.approx(damped, abs=5.1e-5)
    assert r.decay_rate == pytest.approx(decay, abs=5.1e-5)
    seen = r.decay_rate / math.hypot(r.decay_rate, 2 * math.pi * r.damped_frequency)
    assert seen == pytest.approx(ratio, abs=5.1e-5)
    assert r.damping_ratio == pytest.approx(float(seen), rel=1e-12)
    assert r.clamped == (f0 > 1 / (2 * math.pi * DT))


def test_a_branch_far_above_the_clamp_is_dead_beat():
    r = discrete_response(*spring(100, 0.1), DT)
    assert np.isnan(r.frequency) and np.isnan(r.damping_ratio) and r.decay_rate == np.inf
    assert r.clamped and r.stable and r.damped_frequency == 0


@given(st.floats(1e-3, 3.9), st.floats(0, 1.999))
def test_the_response_is_that_of_the_map_stepped(kappa, g):
    """Their sum and product are the matrix's trace and determinant; a double root costs digits."""
    r = discrete_response(1.0, kappa, g, 1.0, "none")
    l1, l2 = r.eigenvalues
    assert l1 + l2 == pytest.approx(2 - kappa - g, abs=1e-9)
    assert l1 * l2 == pytest.approx(1 - g, abs=1e-9)
    matrix = np.array([[1 - kappa, 1 - g], [-kappa, 1 - g]])
    radius = np.abs(np.linalg.eigvals(matrix)).max()
    assert max(abs(l1), abs(l2)) == pytest.approx(radius, abs=1e-6)
    assert bool(r.stable) == (radius <= 1) or abs(radius - 1) < 1e-6
    if (kappa + g) ** 2 < 4 * kappa and g < 1:
        assert r.frequency == pytest.approx(abs(np.log(l1)) / (2 * math.pi), rel=1e-9)


def test_two_real_eigenvalues_give_the_geometric_mean():
    m, k, c = spring(0.2, 2.0)
    r = discrete_response(m, k, c, DT)
    l1, l2 = np.sort(r.eigenvalues.real)
    assert r.damped_frequency == 0 and 0 < l1 < l2 < 1
    expected = math.sqrt(math.log(l1) * math.log(l2)) / (2 * math.pi * DT)
    assert r.frequency == pytest.approx(expected, rel=1e-9)
    assert r.damping_ratio > 1
    assert r.decay_rate == pytest.approx(-math.log(l2) / DT, rel=1e-9)


def test_an_alternating_map_is_no_oscillator():
    r = discrete_response(1.0, 3.9, 0.5, 1.0, "none")
    assert np.isnan(r.frequency) and not r.stable


def test_the_exact_step_keeps_what_is_set_and_shows_the_alias_above_nyquist():
    frequency = np.array([0.3, 4.0, 14.0])
    r = discrete_response(*spring(frequency, 0.1), DT, "exponential")
    assert_allclose(r.frequency, frequency, rtol=1e-12)
    assert_allclose(r.damping_ratio, 0.1, rtol=1e-12)
    assert not r.clamped.any()
    high = discrete_response(*spring(29.0, 0.0), DT, "exponential")
    assert high.damped_frequency == pytest.approx(1.0, rel=1e-9)
    critical = discrete_response(*spring(1.0, 1.0), DT, "exponential")
    assert critical.frequency == pytest.approx(1.0, rel=1e-6)
    heavy = discrete_response(*spring(1.0, 3.0), DT, "exponential")
    assert heavy.damping_ratio == pytest.approx(3.0, rel=1e-9)


def test_the_source_clamp_inflates_the_deflection_and_the_compensated_one_does_not():
    """(2 pi f dt)^2: 2.8 at 8 Hz, 9.9 at 15 Hz."""
    stiff = spring(np.array([1.0, 8.0, 15.0]), 0.05)
    assert_allclose(discrete_response(*stiff, DT).deflection, [1, 2.8074, 9.8696], rtol=1e-4)
    assert (discrete_response(*stiff, DT, "compensated").deflection == 1).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1, 1, DT), "mass"),
        ((1, math.nan, 1, DT), "stiffness"),
        ((1, 1, -1, DT), "damping"),
        ((1, 1, 1, 0), "dt"),
        ((1, 1, 1, DT, "hard"), "clamp: expected one of"),
    ],
)
def test_bad_springs_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        discrete_response(*arguments)


def test_natural_frequencies_are_labelled_and_agree_with_the_parameters():
    tree = wg.grow_tree("oak", seed=7)
    f = wg.natural_frequencies(tree, "oak")
    assert f.dims == ("branch",) and f.attrs["units"] == "Hz"
    assert np.array_equal(f, wg.branch_parameters(tree, "oak").frequency)
    assert np.array_equal(f.level, tree.level) and np.array_equal(f.kind, tree.kind)


def test_realised_shows_set_and_realised_side_by_side():
    tree = wg.grow_tree("ash", seed=7)
    ds = wg.realised(tree, "ash", dt=DT)
    p = wg.branch_parameters(tree, "ash")
    assert_allclose(ds.frequency, p.frequency)
    assert_allclose(ds.damping_ratio, p.damping_ratio)
    stiff = (p.frequency > 1 / (2 * math.pi * DT)) | (
        2 * p.damping_ratio * p.frequency * 2 * math.pi * DT > 1
    )
    assert np.array_equal(ds.clamped, stiff)
    free = ~stiff
    expected = discrete_response(p.mass, p.stiffness, p.damping, DT)
    assert_allclose(ds.realised_frequency[free], expected.frequency[free])
    finer = wg.realised(tree, "ash", dt=DT / 8)
    assert finer.clamped.sum() < ds.clamped.sum() or not stiff.any()


def test_branches_are_grouped_by_their_kind_in_words():
    tree = wg.grow_tree("oak", seed=1)
    medians = wg.realised(tree, "oak").groupby("kind_name").median()["frequency"]
    assert set(medians["kind_name"].to_numpy()) == {"trunk", "branch", "foliage"}
    frequency = wg.branch_parameters(tree, "oak").frequency
    for kind, name in enumerate(("trunk", "branch", "foliage")):
        assert float(medians.sel(kind_name=name)) == np.median(frequency[tree.kind == kind])
