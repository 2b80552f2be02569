"""Grown trees: deterministic, of the promised size, and made of the right parts."""

import numpy as np
import pytest

import windgrove as wg
from windgrove.species import species_names


@pytest.mark.parametrize("name", species_names())
def test_a_grown_tree_has_the_promised_height_and_number_of_branches(name):
    tree = wg.grow_tree(name, seed=7)
    growth = wg.load_species(name).growth
    assert 250 <= len(tree) <= 1500
    top = max(tree.segments.start[:, 2].max(), tree.segments.end[:, 2].max())
    assert top == pytest.approx(growth.height, rel=1e-9)


def test_the_same_seed_grows_the_same_bits_and_another_seed_another_tree():
    first, again, other = (wg.grow_tree("oak", seed=s) for s in (7, 7, 8))
    for name in ("position", "direction", "length", "volume", "area", "parent"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    assert len(first) != len(other) or not np.array_equal(first.position, other.position)
