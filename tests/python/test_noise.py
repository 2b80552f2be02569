"""Perlin noise: exact pairs, the twin, and the promises of the docstring."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from windgrove import kernels, reference

# Values printed by public copies of Perlin's reference implementation, with seed 0.
PAIRS = [
    ((3.14, 42, 7), 0.13691995878400012),
    ((-4.20, 10, 6), 0.14208000000000043),
    ((-4.20, 10, 0), -0.14208000000000043),
    ((0.5, 0.5, 0.5), -0.25),
    ((0.1, 0.1, 0.1), 0.1861607143544832),
]


@pytest.mark.parametrize(("point", "value"), PAIRS)
def test_the_reference_pairs_are_exact(point, value):
    assert kernels.perlin([point])[0] == value


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**64 - 1])
def test_the_kernel_equals_its_twin(seed):
    """Both are double precision; the twin sums eight ramps in another order: a few ulp of 1."""
    points = np.random.default_rng(3).uniform(-600, 600, (2000, 3))
    assert_allclose(
        kernels.perlin(points, seed), reference.perlin(points, seed), rtol=0, atol=1e-12
    )


def test_the_noise_is_zero_at_integer_points_and_stays_in_range():
    rng = np.random.default_rng(4)
    assert not kernels.perlin(rng.integers(-1000, 1000, (500, 3))).any()
    values = kernels.perlin(np.arange(-10000, 10000)[:, None] * [0.49, -0.67, 0.727])
    assert -1 <= values.min() < -0.5 and 0.5 < values.max() <= 1


def test_a_point_that_is_not_finite_gives_nan_alone():
    values = kernels.perlin([[0.5, 0.5, 0.5], [np.nan, 0, 0], [0, np.inf, 0], [0.5, 0.5, 0.5]])
    assert np.isnan(values).tolist() == [False, True, True, False]


def test_bad_input_names_the_argument():
    with pytest.raises(ValueError, match="points: expected shape"):
        kernels.perlin([[1, 2]])
    with pytest.raises(TypeError, match="points: expected numbers"):
        kernels.perlin([["a", "b", "c"]])
    with pytest.raises(TypeError, match="seed: expected an integer"):
        kernels.perlin([[0, 0, 0]], seed=1.5)
    with pytest.raises(ValueError, match="seed"):
        kernels.perlin([[0, 0, 0]], seed=-1)
