"""Advice: each finding where it is due, none where all is well, and effects that come true."""

import math

import numpy as np
import pytest

import windgrove as wg
from windgrove.species import species_names


@pytest.fixture(scope="module")
def oak_tree():
    return wg.grow_tree("oak", seed=1)


@pytest.fixture(scope="module")
def oak():
    return wg.load_species("oak")


def option(report, topic, start=""):
    items = [item for item in report if item.topic == topic]
    return next(o for item in items for o in item.options if o.change.startswith(start))


def test_a_good_preset_needs_no_advice(oak_tree):
    report = wg.advise(oak_tree, "oak")
    assert len(report) == 0 and str(report) == "nothing to change"


@pytest.mark.parametrize("name", species_names())
def test_shipped_presets_are_never_off_in_frequency_or_damping(name):
    topics = wg.advise(wg.grow_tree(name, seed=1), name).topics()
    assert not {"frequency", "sway", "overdamped", "undamped"} & set(topics)


def test_too_much_sway_wants_less_drag_and_keeps_the_frequency(oak_tree, oak):
    loud = oak.replace(foliage={"gamma": 10 * oak.foliage.gamma})
    report = wg.advise(oak_tree, loud, wind_speed=10, largest_sway_deg=6)
    advice = next(item for item in report if item.level == "trunk")
    assert advice.topic == "sway" and "not raise beta" in advice.why
    for choice in advice.options:
        p = wg.branch_parameters(oak_tree, choice.species)
        push = p.drag[0] * 10 / p.stiffness[0]
        # k theta = d v cos(theta), theta = 6 degrees, solved by hand.
        assert push == pytest.approx(math.radians(6) / math.cos(math.radians(6)), rel=1e-6)
        assert p.frequency[0] == wg.branch_parameters(oak_tree, loud).frequency[0]
    assert [o.change.split(" x ")[0] for o in advice.options] == ["gamma", "trunk.propagation"]
    keeps = advice.options[1].effects[1]
    assert keeps.quantity == "foliage steady sway" and keeps.before == keeps.after


def test_clamped_twigs_get_substeps_or_a_softer_level(oak_tree, oak):
    stiff = oak.replace(branch={"beta": 20 * oak.branch.beta})
    report = wg.advise(oak_tree, stiff)
    advice = next(item for item in report if item.topic == "clamped")
    assert advice.level == "branch"
    substeps, softer, compensated = advice.options
    finer = wg.realised(oak_tree, stiff, dt=substeps.dt)
    branch = finer.kind == 1
    assert float(finer.clamped[branch].mean()) <= 0.02
    eased = wg.realised(oak_tree, softer.species)
    assert float(eased.clamped[branch].mean()) <= 0.02
    assert softer.species.trunk == stiff.trunk
    assert compensated.clamp == "compensated" and compensated.effects[0].after == 1.0
    before = wg.realised(oak_tree, stiff)
    assert substeps.effects[0].before == pytest.approx(100 * float(before.clamped[branch].mean()))
    assert not wg.advise(oak_tree, stiff, clamp="exponential").topics()


def test_an_overdamped_level_swings_again(oak_tree, oak):
    slow = oak.replace(branch={"zeta": 1.5})
    choice = option(wg.advise(oak_tree, slow), "overdamped")
    ds = wg.realised(oak_tree, choice.species)
    seen = float(ds.damped_frequency[ds.kind == 1].median())
    assert choice.effects[0].before == 0.0 and choice.effects[0].after == pytest.approx(seen)
    assert wg.advise(oak_tree, slow).topics() == ("overdamped",)


def test_a_level_without_damping_is_named(oak_tree, oak):
    report = wg.advise(oak_tree, oak.replace(foliage={"zeta": 0.0}))
    assert report.topics() == ("undamped",)
    assert option(report, "undamped").effects[0].before == math.inf


def test_a_unit_slip_in_beta_is_found_and_mended(oak_tree, oak):
    report = wg.advise(oak_tree, oak.replace(trunk={"beta": 1.0}))
    assert report.topics()[0] == "frequency" and "sway" not in report.topics()
    mended = option(report, "frequency").species
    law = 0.1096 + 1.671 / oak_tree.wood_height
    assert float(wg.natural_frequencies(oak_tree, mended)[0]) == pytest.approx(law, rel=1e-9)


def test_a_tree_of_another_size_than_the_preset_is_named():
    spruce = wg.load_species("norway_spruce")
    tall = wg.advise(wg.grow_tree(spruce, seed=1, height=35.0), spruce)
    assert tall.topics()[0] == "size" and "DBH/H^2" in str(tall)
    fitting = wg.advise(wg.grow_tree(spruce, seed=1), spruce)
    assert "size" not in fitting.topics()


def test_gusts_at_the_natural_frequency_are_met_by_damping(oak_tree, oak):
    f0 = float(wg.natural_frequencies(oak_tree, oak)[0])
    report = wg.advise(oak_tree, oak, gust_frequency=f0)
    assert report.topics() == ("resonance",)
    damped = option(report, "resonance", "trunk.zeta")
    # At resonance a spring swings 1 / (2 zeta) times as far as in a steady push.
    assert damped.effects[0].before == pytest.approx(1 / (2 * 0.086), rel=1e-9)
    assert damped.effects[0].after == pytest.approx(1 / (2 * 0.15), rel=1e-9)
    moved = option(report, "resonance", "trunk.beta")
    assert moved.effects[0].after < 2.05
    assert not wg.advise(oak_tree, oak, gust_frequency=0.02).topics()


def test_advice_reads_well(oak_tree, oak):
    text = str(wg.advise(oak_tree, oak, wind_speed=40.0, largest_sway_deg=5))
    assert text.startswith("sway (trunk): the trunk stands at ")
    assert "\n  why: lower gamma, not raise beta" in text
    assert "\n  - gamma x " in text and "nan" not in text


def test_a_bare_tree_is_advised_without_leaves(oak):
    bare = wg.grow_tree("oak", seed=1, foliage=False)
    report = wg.advise(bare, oak, wind_speed=60, largest_sway_deg=3)
    assert all(item.level != "foliage" for item in report)


@pytest.mark.parametrize(
    "arguments",
    [{"dt": 0}, {"wind_speed": -1}, {"largest_sway_deg": 90}, {"gust_frequency": np.nan},
     {"clamp": "hard"}],
)  # fmt: skip
def test_bad_arguments_are_named(oak_tree, oak, arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        wg.advise(oak_tree, oak, **arguments)
