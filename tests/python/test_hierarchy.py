"""Carried mass and propagated drag: closed forms, listing 3.1, and what the docstrings promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from windgrove import kernels, reference

# Float32 results of double sums: half an ulp of rounding, 6e-8; the bound is the one that
# float32 sums in another order would need.
FLOAT32 = 1e-5


def random_tree(rng, n, shape):
    """Parents of a chain, a bush (all on the first), a forest or a random tree."""
    index = np.arange(n)
    if shape == "chain":
        parent = index - 1
    elif shape == "bush":
        parent = np.where(index > 0, 0, -1)
    elif shape == "forest":
        parent = np.where(index % 7 == 0, -1, index - 1)
    else:
        parent = (rng.random(n) * (index + 1)).astype(int) - 1
    direction = rng.normal(size=(n, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    return {
        "direct_drag": rng.random(n),
        "position": rng.normal(size=(n, 3)),
        "direction": direction,
        "length": rng.uniform(0.05, 3, n),
        "parent": parent,
        "propagation": rng.random(n),
    }


@pytest.mark.parametrize("shape", ["chain", "bush", "forest", "random"])
@pytest.mark.parametrize("n", [1, 2, 37, 300])
def test_one_pass_gives_the_sums_of_the_listing(shape, n):
    tree = random_tree(np.random.default_rng(n), n, shape)
    assert_allclose(kernels.propagate_drag(**tree), reference.propagate_drag(**tree), rtol=FLOAT32)
    mass = tree["direct_drag"], tree["parent"]
    assert_allclose(kernels.total_mass(*mass), reference.total_mass(*mass), rtol=FLOAT32)


@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_any_order_of_the_branches_gives_the_same_sums(n, seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, "random")
    order = rng.permutation(n)
    place = np.append(np.argsort(order), -1)
    shuffled = {name: np.asarray(values)[order] for name, values in tree.items()}
    shuffled["parent"] = place[shuffled["parent"]]
    assert_allclose(
        kernels.propagate_drag(**shuffled), reference.propagate_drag(**tree)[order], rtol=FLOAT32
    )
    assert_allclose(
        kernels.total_mass(shuffled["direct_drag"], shuffled["parent"]),
        reference.total_mass(tree["direct_drag"], tree["parent"])[order],
        rtol=FLOAT32,
    )


def test_a_branch_hands_down_by_its_place_on_the_parent():
    """By hand: at 0.4 of the trunk 40 %, beyond the end all, before the start nothing."""
    trunk = {"direction": [[0, 0, 1]] * 4, "length": [10, 1, 1, 1], "parent": [-1, 0, 0, 0]}
    position = [[0, 0, 0], [0, 0, 4], [0, 0, 12], [0, 0, -1]]
    drag = kernels.propagate_drag([1, 10, 100, 1000], position, propagation=0.5, **trunk)
    assert_allclose(drag, [1 + 0.5 * (0.4 * 10 + 100), 10, 100, 1000], rtol=1e-7)


def test_nothing_propagates_at_zero_and_everything_is_counted_along_a_chain_of_ends():
    n = 50
    chain = random_tree(np.random.default_rng(1), n, "chain")
    chain["propagation"] = np.zeros(n)
    assert_allclose(kernels.propagate_drag(**chain), chain["direct_drag"], rtol=1e-7)
    # Every branch at its parent's end, propagation 1: the root feels the sum of all.
    chain.update(propagation=np.ones(n), direction=np.tile([0.0, 0, 1], (n, 1)))
    chain["position"] = np.column_stack(
        [np.zeros((n, 2)), np.append(0, np.cumsum(chain["length"])[:-1])]
    )
    drag = kernels.propagate_drag(**chain)
    assert_allclose(drag, np.cumsum(chain["direct_drag"][::-1])[::-1], rtol=FLOAT32)


def test_nan_reaches_the_ancestors_and_no_others():
    parent = [-1, 0, 0, 1, 2]
    mass = kernels.total_mass([1, 1, 1, np.nan, 1], parent)
    assert np.isnan(mass).tolist() == [True, True, False, True, False]
    tree = random_tree(np.random.default_rng(2), 5, "random") | {"parent": parent}
    tree["position"][3, 0] = np.nan
    drag = kernels.propagate_drag(**tree)
    assert np.isnan(drag).tolist() == [False, True, False, False, False]


def test_inputs_of_any_kind_are_converted_and_left_alone():
    tree = random_tree(np.random.default_rng(3), 40, "random")
    expected = kernels.propagate_drag(**tree)
    wide = np.repeat(tree["position"], 2, axis=0)[::2]
    wide.flags.writeable = False
    lists = tree | {"position": wide, "length": tree["length"].tolist()}
    lists["parent"] = tree["parent"].astype(np.int64).tolist()
    assert_array_equal(kernels.propagate_drag(**lists), expected)
    assert_array_equal(kernels.total_mass([], []), np.zeros(0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"length": [1, 0]}, "length: branch 1 has 0.0"),
        ({"length": [1, np.nan]}, "length: branch 1 has nan"),
        ({"parent": [-1, 2]}, "parent: branch 1 has parent 2"),
        ({"parent": [-2, 0]}, "parent: branch 0 has parent -2"),
        ({"parent": [1, 0]}, "parent: branch 0 is its own ancestor"),
        ({"direct_drag": [1]}, "direct_drag: expected shape"),
        ({"propagation": [1, 1, 1]}, "propagation: expected shape"),
    ],
)
def test_what_cannot_be_used_is_named(change, message):
    tree = random_tree(np.random.default_rng(4), 2, "chain")
    with pytest.raises(ValueError, match=message):
        kernels.propagate_drag(**(tree | change))


def test_fractional_parents_are_refused_by_type():
    with pytest.raises(TypeError, match="parent: expected integers"):
        kernels.total_mass([1, 1], [-1, 0.5])
