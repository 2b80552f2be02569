"""Spring parameters against their closed forms (MODEL 2.2) and against published anchors."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import windgrove as wg
from windgrove.species import Level, Species
from windgrove.trees.tree import Tree

WOOD = Level(beta=4e5, zeta=0.05, gamma=0.3, propagation=0.5)
LEAF = Level(beta=90.0, zeta=0.12, gamma=0.2, rho=0.7)
PLAIN = Species("plain", trunk=WOOD, branch=Level(2e5, 0.08, 0.4), foliage=LEAF)


def three_branches(volume=0.6, length=9.0, area=2.0):
    """A trunk, a branch at two thirds of it and a bundle at that branch's end."""
    return Tree(
        position=[[0, 0, 0], [0, 0, 6], [2, 0, 6]],
        direction=[[0, 0, 1], [1, 0, 0], [1, 0, 0]],
        length=[length, 2.0, math.sqrt(area)],
        volume=[volume, 0.01, 0.0],
        area=[0.0, 0.0, area],
        kind=[0, 1, 2],
        parent=[-1, 0, 1],
    )


def test_every_quantity_is_its_closed_form():
    """The kernel's sums have three terms; 1e-14 is a few ulp."""
    p = wg.branch_parameters(three_branches(), PLAIN)
    own = np.array([500 * 0.6, 500 * 0.01, 0.7 * 2.0])
    mass = np.array([own.sum(), own[1:].sum(), own[2]])
    stiffness = np.array([4e5 * 0.6 / 81, 2e5 * 0.01 / 4, 90 * math.sqrt(2.0)])
    zeta = np.array([0.05, 0.08, 0.12])
    direct = np.array(
        [
            2 * 0.3 * math.sqrt(9 * 0.6 / math.pi),
            2 * 0.4 * math.sqrt(2 * 0.01 / math.pi),
            0.2 * 2.0,
        ]
    )
    arriving = direct[1] + 1.0 * direct[2]
    drag = np.array([direct[0] + 0.5 * (6 / 9) * arriving, direct[1] + direct[2], direct[2]])
    for seen, expected in [
        (p.own_mass, own),
        (p.mass, mass),
        (p.stiffness, stiffness),
        (p.damping, 2 * zeta * np.sqrt(mass * stiffness)),
        (p.direct_drag, direct),
        (p.drag, drag),
        (p.frequency, np.sqrt(stiffness / mass) / (2 * math.pi)),
        (p.damping_ratio, zeta),
    ]:
        assert_allclose(seen, expected, rtol=1e-14)
        assert seen.dtype == np.float64 and not seen.flags.writeable


@given(st.floats(1e-6, 50), st.floats(1e-3, 60), st.floats(1e-4, 500), st.floats(0.1, 10))
def test_scaling_beta_scales_frequencies_by_its_root_alone(volume, length, area, factor):
    tree = three_branches(volume, length, area)
    stiffer = PLAIN.replace(
        **{
            name: {"beta": PLAIN.level(name).beta * factor}
            for name in ("trunk", "branch", "foliage")
        }
    )
    before, after = wg.branch_parameters(tree, PLAIN), wg.branch_parameters(tree, stiffer)
    assert_allclose(after.frequency, before.frequency * math.sqrt(factor), rtol=1e-12)
    assert_allclose(after.damping, before.damping * math.sqrt(factor), rtol=1e-12)
    assert np.array_equal(after.mass, before.mass) and np.array_equal(after.drag, before.drag)


def test_leafgen_needs_beta_4_06e5_for_a_fifth_of_a_hertz(data):
    """NUMBERS 5.2 and 10.5: (2 pi 0.2)^2 500 (V_all / V_trunk) l^2, without foliage, to 1 %."""
    tree = wg.read_tree(data / "leafgen" / "ExampleQSM.mat")
    unit = PLAIN.replace(trunk={"beta": 1.0, "zeta": 0.1})
    frequency = wg.branch_parameters(tree, unit).frequency[0]
    beta = (0.2 / frequency) ** 2
    assert beta == pytest.approx(4.06e5, rel=0.01)
    p = wg.branch_parameters(tree, unit.replace(trunk={"beta": beta}))
    assert p.frequency[0] == pytest.approx(0.2, rel=1e-12)
    assert_allclose(p.damping[0], 2 * 0.1 * np.sqrt(p.mass[0] * p.stiffness[0]), rtol=1e-14)


@pytest.mark.parametrize("value", [-1.0, 0.0, math.nan, math.inf])
def test_a_bad_beta_is_named_with_its_level(value):
    with pytest.raises(ValueError, match=r"trunk\.beta: expected"):
        PLAIN.replace(trunk={"beta": value})


@pytest.mark.parametrize(
    ("level", "change"),
    [
        ("branch", {"zeta": -0.1}),
        ("branch", {"zeta": math.nan}),
        ("foliage", {"gamma": -1.0}),
        ("foliage", {"rho": 0.0}),
        ("foliage", {"rho": math.nan}),
        ("trunk", {"propagation": 1.5}),
        ("trunk", {"zeta_bare": -0.1}),
    ],
)
def test_other_bad_parameters_are_named_too(level, change):
    with pytest.raises(ValueError, match=rf"{level}\.{next(iter(change))}: expected"):
        PLAIN.replace(**{level: change})


def test_an_unknown_parameter_is_named_and_text_is_refused():
    with pytest.raises(TypeError, match=r"trunk\.betta: no such parameter"):
        PLAIN.replace(trunk={"betta": 1.0})
    with pytest.raises(TypeError, match=r"trunk\.beta: expected a number"):
        PLAIN.replace(trunk={"beta": "4e5"})


@pytest.mark.parametrize(
    ("name", "bare_8", "bare_24", "leaf_8", "leaf_24", "thin", "thick"),
    [
        ("oak", 0.646, 0.215, 0.369, 0.194, 0.184, 0.304),
        ("birch", 0.470, 0.157, 0.285, 0.144, 0.143, 0.224),
        ("norway_spruce", 1.042, 0.347, 0.401, 0.271, 0.200, 0.447),
    ],
)
def test_a_bare_trunk_falls_as_1_over_l_and_leaves_bring_the_diameter_in(
    name, bare_8, bare_24, leaf_8, leaf_24, thin, thick
):
    """The table of docs/numerics/parameters.md, to half a digit, and the law behind it."""

    def frequency(height, thickness=1.0, leaves=True):
        usual = wg.grow_tree(name, seed=1, height=height, foliage=False)
        dbh = thickness * usual.report.attributes["dbh"]
        tree = wg.grow_tree(name, seed=1, height=height, dbh=dbh, foliage=leaves)
        p = wg.branch_parameters(tree, name)
        wood = tree.kind < 2
        return p.frequency[0], p.own_mass[~wood].sum() / p.own_mass[wood].sum()

    bare = [frequency(h, leaves=False)[0] for h in (8, 24)]
    assert_allclose(bare, [bare_8, bare_24], atol=6e-4)
    assert_allclose(bare[0] / bare[1], 3.0, rtol=1e-9)  # 24 / 8
    assert_allclose(frequency(16, 2.0, leaves=False)[0], frequency(16, leaves=False)[0], rtol=1e-9)
    for height, expected, without in ((8, leaf_8, bare[0]), (24, leaf_24, bare[1])):
        seen, leaves_over_wood = frequency(height)
        assert_allclose(seen, expected, atol=6e-4)
        # Grown with and without leaves alike: the same wood, and its trunk at the bottom of all.
        assert_allclose(seen, without / np.sqrt(1 + leaves_over_wood), rtol=1e-9)
    assert_allclose([frequency(16, 0.5)[0], frequency(16, 2.0)[0]], [thin, thick], atol=6e-4)
