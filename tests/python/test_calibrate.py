"""Calibration: the model's equations inverted, intervals, words, refusals, and what a run shows."""

import datetime

import numpy as np
import pytest
from numpy.testing import assert_allclose

import windgrove as wg
from windgrove.studies.calibration import CalibrationError


@pytest.fixture(scope="module")
def oak():
    return wg.grow_tree("oak", seed=7)


def chain(length=10.0, volume=0.3, area=4.0):
    """A trunk with one leaf bundle at its tip: every target has a closed form."""
    return wg.Tree(
        position=[[0, 0, 0], [0, 0, length]],
        direction=[[0, 0, 1], [0, 0, 1]],
        length=[length, np.sqrt(area)],
        volume=[volume, 0],
        area=[0, area],
        kind=[0, 2],
        parent=[-1, 0],
    )


def test_the_published_beta_of_a_scanned_tree_comes_back(data):
    """NUMBERS 5.2: beta = (2 pi f)^2 500 V_all / V_trunk l^2 = 4.06e5 for this file at 0.2 Hz."""
    tree = wg.read_tree(data / "leafgen" / "ExampleQSM.mat")
    cal = wg.calibrate(tree, "oak", frequency_hz=0.2, damping_ratio=0.1, verify=False)
    assert_allclose(cal.species.trunk.beta, 4.06e5, rtol=0.002)
    p = wg.branch_parameters(tree, cal.species)
    assert_allclose(p.damping[0], 2 * 0.1 * np.sqrt(p.mass[0] * p.stiffness[0]), rtol=1e-9)


def test_every_target_of_a_closed_form_tree_is_met():
    """m = 500 V + rho A, k = beta V / l^2, d = D_trunk + gamma A, all invertible by hand."""
    tree = chain()
    cal = wg.calibrate(
        tree,
        "oak",
        frequency_hz=0.25,
        damping_ratio=0.08,
        sway_deg=(5.0, 9.0),
        leaf_ratio=1.185,
        verify=False,
    )
    s = cal.species
    mass = 500 * 0.3 * 1.185**2  # bare over leaf frequency is sqrt(m_leaf / m_bare)
    assert_allclose(s.foliage.rho, (mass - 150) / 4, rtol=1e-6)
    stiffness = (2 * np.pi * 0.25) ** 2 * mass
    assert_allclose(s.trunk.beta, stiffness * 100 / 0.3, rtol=1e-6)
    drag = stiffness * np.radians(5) / (9 * np.cos(np.radians(5)))
    assert_allclose(wg.branch_parameters(tree, s).drag[0], drag, rtol=1e-6)
    assert s.trunk.zeta == pytest.approx(0.08, rel=1e-9)


def test_the_gammas_keep_the_presets_ratio(oak):
    before = wg.load_species("oak")
    after = wg.calibrate(oak, before, sway_deg=(4.0, 8.0), verify=False).species
    factor = after.trunk.gamma / before.trunk.gamma
    assert_allclose(
        [after.branch.gamma / before.branch.gamma, after.foliage.gamma / before.foliage.gamma],
        factor,
        rtol=1e-12,
    )


def test_a_run_of_the_result_shows_what_it_promised(oak):
    """The spring step is float32 and clamped at 1/30 s: the realised columns say what it gives."""
    cal = wg.calibrate(oak, "oak", frequency_hz=0.286, damping_ratio=0.051, sway_deg=(4.0, 8.0))
    for target in cal.targets:
        assert_allclose(target.simulated, target.realised, rtol=2e-3)
        assert_allclose(target.simulated, target.target, rtol=0.01)


def test_a_sway_fit_says_what_it_did_to_all_levels(oak):
    cal = wg.calibrate(oak, "oak", sway_deg=(6.0, 8.0))
    assert [t.level for t in cal.turning] == ["trunk", "branch", "foliage"]
    text = cal.report()
    for kind, t in enumerate(cal.turning):
        for species, median, greatest, thrown in (
            ("oak", t.before, t.peak_before, t.thrown_before),
            (cal.species, t.after, t.peak_after, t.thrown_after),
        ):
            ds = wg.simulate(
                wg.Sway(oak, species), wg.UniformWind((8, 0, 0)), duration=10, progress=False
            )
            angle = np.linalg.norm(ds.rotation[:, 0].to_numpy().astype(float), axis=-1)
            peak = np.degrees(angle.max(axis=0))[oak.kind == kind]
            assert (t.branches, thrown) == (len(peak), (peak > 60).sum())
            assert (median, greatest) == pytest.approx((np.median(peak), peak.max()), rel=1e-5)
        assert f"  {t.level:<8} median peak {t.before:.3g} -> {t.after:.3g}" in text
    assert cal.turning[1].thrown_after > 0 and "windgrove.advise(tree, species" in text
    assert not wg.calibrate(oak, "oak", frequency_hz=0.25).turning


def test_realised_targets_are_met_after_the_clamp(oak):
    cal = wg.calibrate(
        oak, "oak", frequency_hz={"foliage": 3.0}, damping_ratio={"foliage": 0.1}, match="realised"
    )
    realised = wg.realised(oak, cal.species, dt=1 / 30)
    foliage = oak.kind == 2
    seen = np.median(realised.realised_frequency.values[foliage])
    assert_allclose(seen, 3.0, rtol=1e-6)
    assert (
        cal.species.foliage.beta
        < wg.calibrate(oak, "oak", frequency_hz={"foliage": 3.0}, verify=False).species.foliage.beta
    )


def test_a_frequency_above_the_clamp_is_refused_with_the_reason(oak):
    with pytest.raises(CalibrationError, match=r"4\.77 Hz|dead-beat"):
        wg.calibrate(oak, "oak", frequency_hz={"foliage": 8.0}, match="realised")


def test_one_beta_for_a_sapling_and_a_mature_tree_is_refused():
    """Conifers follow DBH/H^2, this model 1/l: the message names the betas each would need."""
    trees = [chain(2.0, 0.002, 0.5), chain(20.0, 0.8, 20.0)]
    with pytest.raises(CalibrationError, match="one beta cannot serve these sizes"):
        wg.calibrate(trees, "oak", frequency_hz=[0.7, 0.3])


def test_several_trees_share_one_beta_and_get_an_interval_from_their_scatter():
    """Trees that need betas b e^(+-s): the geometric mean, log deviation s sqrt(2) / sqrt(2)."""
    trees = [chain(10.0), chain(10.0)]
    target = [0.2 * np.exp(0.02), 0.2 * np.exp(-0.02)]
    cal = wg.calibrate(trees, "oak", frequency_hz=target, verify=False)
    middle = wg.calibrate(trees[0], "oak", frequency_hz=0.2, verify=False)
    assert_allclose(cal.species.trunk.beta, middle.species.trunk.beta, rtol=1e-6)
    assert cal.degrees_of_freedom == 1


def test_the_interval_of_an_exactly_met_target_is_its_uncertainty():
    """f ~ sqrt(beta): a relative deviation u of f is 2u of beta, and 95 % is 1.96 of those."""
    cal = wg.calibrate(
        chain(), "oak", frequency_hz=0.2, uncertainty={"frequency_hz": 0.01}, verify=False
    )
    low, high = cal.estimate("trunk.beta").interval
    assert_allclose(np.log(high / low) / 2, 1.959964 * 0.02, rtol=1e-4)


def test_parameters_that_cannot_be_told_apart_are_named():
    cal = wg.calibrate(
        chain(),
        "oak",
        frequency_hz={"foliage": 2.0},
        free=["foliage.beta", "foliage.rho"],
        verify=False,
    )
    assert any("beta and rho of foliage cannot be told apart" in s for s in cal.identifiability)
    assert cal.estimate("foliage.beta").interval == (0.0, np.inf)
    assert "cannot be told apart" in cal.report()


def test_a_parameter_no_target_depends_on_is_named():
    cal = wg.calibrate(
        chain(), "oak", frequency_hz=0.2, free=["trunk.beta", "branch.zeta"], verify=False
    )
    assert any("no target depends on branch.zeta" in s for s in cal.identifiability)


def test_bounds_fixed_and_tied_hold():
    tree = chain()
    with pytest.raises(CalibrationError, match="ran into its bounds"):
        wg.calibrate(tree, "oak", frequency_hz=0.2, bounds={"trunk.beta": (1e3, 1e4)})
    with pytest.raises(ValueError, match="nothing is left to fit"):
        wg.calibrate(tree, "oak", frequency_hz=0.2, fixed=["trunk.beta"])
    start = wg.load_species("oak")
    cal = wg.calibrate(
        tree, start, frequency_hz=0.2, tied={"branch.beta": "trunk.beta"}, verify=False
    )
    assert_allclose(
        cal.species.branch.beta / cal.species.trunk.beta, start.branch.beta / start.trunk.beta
    )


def test_a_recorded_decay_becomes_frequency_and_damping():
    """A noisy damped sine at the published pull-and-release constants w 1.8, decay 0.092 1/s."""
    time = np.arange(0, 40, 0.05)
    w0 = np.hypot(1.8, 0.092)
    angle = np.exp(-0.092 * time) * np.cos(1.8 * time)
    angle = angle + np.random.default_rng(1).normal(0, 0.01, time.size)
    cal = wg.calibrate(chain(), "oak", pull_and_release=(time, angle), verify=False)
    found = {t.label.split("[")[0]: t for t in cal.targets}
    assert_allclose(found["frequency_hz"].predicted, w0 / (2 * np.pi), rtol=0.003)
    assert_allclose(found["damping_ratio"].predicted, 0.092 / w0, rtol=0.05)


def test_a_spectrum_becomes_frequency_and_damping():
    f = np.linspace(0.02, 2, 400)
    r = f / 0.3
    density = f**-1.0 / ((1 - r**2) ** 2 + (2 * 0.06 * r) ** 2)
    noise = np.random.default_rng(2).gamma(20, 1 / 20, f.size)  # 20 averaged periodograms
    cal = wg.calibrate(chain(), "oak", spectrum=(f, density * noise), verify=False)
    low, high = (cal.targets[1].target * np.array([0.8, 1.2])).tolist()
    assert_allclose(cal.targets[0].predicted, 0.3, rtol=0.01)
    assert low < 0.06 < high


def test_extra_residuals_join_the_fit():
    """One residual that is zero where the foliage's gamma is 0.7."""
    cal = wg.calibrate(
        chain(),
        "oak",
        residuals=lambda s: [np.log(s.foliage.gamma / 0.7) / 0.1],
        free=["foliage.gamma"],
        verify=False,
    )
    assert_allclose(cal.species.foliage.gamma, 0.7, rtol=1e-6)


def test_a_robust_loss_forgives_an_outlier():
    trees = [chain(10.0)] * 7
    target = [0.2] * 6 + [0.4]
    cal = wg.calibrate(trees, "oak", frequency_hz=target, loss="cauchy", verify=False)
    single = wg.calibrate(trees[0], "oak", frequency_hz=0.2, verify=False)
    assert_allclose(cal.species.trunk.beta, single.species.trunk.beta, rtol=0.02)


def test_the_profile_rises_by_1_92_at_the_interval():
    cal = wg.calibrate(chain(), "oak", frequency_hz=0.2, verify=False)
    profile = cal.profile("trunk.beta", points=41)
    low, high = cal.estimate("trunk.beta").interval
    cost = np.interp(np.log([low, high]), np.log(profile["trunk.beta"]), profile.values)
    assert_allclose(cost, 1.92, rtol=0.02)  # half of 1.96 squared


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({}, ValueError, "give at least one target"),
        ({"frequency_hz": -1}, ValueError, "frequency_hz"),
        ({"frequency_hz": float("nan")}, ValueError, "frequency_hz"),
        ({"frequency_hz": {"twig": 1.0}}, ValueError, "frequency_hz: expected one of"),
        ({"frequency_hz": {"branch": 1.0}}, ValueError, "no branch of level 'branch'"),
        ({"frequency_hz": "fast"}, TypeError, "frequency_hz"),
        ({"sway_deg": 4.0}, (TypeError, ValueError), "sway_deg"),
        ({"sway_deg": (95.0, 8.0)}, ValueError, "cannot be reached"),
        ({"damping_ratio": 0.0}, ValueError, "damping_ratio"),
        ({"frequency_hz": 0.2, "loss": "square"}, ValueError, "loss"),
        ({"frequency_hz": 0.2, "dt": 0}, ValueError, "dt"),
        ({"frequency_hz": 0.2, "free": ["trunk.betta"]}, ValueError, "free"),
        ({"frequency_hz": 0.2, "bounds": {"trunk.beta": (5, 1)}}, ValueError, "bounds"),
        ({"pull_and_release": (np.arange(9.0), np.zeros(9))}, ValueError, "pull_and_release"),
        ({"leaf_ratio": 0.9}, CalibrationError, "leaves only add mass|ran into its bounds"),
    ],
)
def test_bad_input_is_named(arguments, error, text):
    with pytest.raises(error, match=text):
        wg.calibrate(chain(), "oak", verify=False, **arguments)


def test_the_calibrated_species_is_saved_and_says_where_it_comes_from(tmp_path):
    cal = wg.calibrate(chain(), "oak", frequency_hz=0.2, name="oak-site", verify=False)
    again = wg.load_species(cal.species.save(tmp_path / "oak-site.toml"))
    assert again.trunk == cal.species.trunk
    assert again.provenance.tree_height == cal.species.provenance.tree_height
    assert "frequency_hz[trunk]" in again.provenance.notes


def test_sensitivity_matches_the_closed_form_of_a_product():
    """log f = (log beta - log m) / 2: with beta alone log-uniform over a factor 4 and the damping
    ratio free, f varies with beta only, so its indices are 1 and 0."""
    indices = wg.sensitivity(chain(), "oak", ["trunk.beta", "trunk.zeta"], samples=256)
    assert_allclose(indices.first_order, [1, 0], atol=0.02)
    assert_allclose(indices.total_order, [1, 0], atol=0.02)


def test_sensitivity_of_a_known_function():
    """log(out) = a + 2 b with equal log ranges: variances 1 and 4 of 5 (log-uniform inputs)."""

    def output(species):
        return np.log(species.trunk.beta) + 2 * np.log(species.trunk.gamma)

    indices = wg.sensitivity(
        chain(), "oak", ["trunk.beta", "trunk.gamma"], output=output, samples=1024
    )
    assert_allclose(indices.first_order, [0.2, 0.8], atol=0.03)
    with pytest.raises(ValueError, match="power of 2"):
        wg.sensitivity(chain(), "oak", ["trunk.beta"], samples=100)
    with pytest.raises(ValueError, match="vary"):
        wg.sensitivity(chain(), "oak", {"trunk.beta": (2, 1)})


def test_a_calibrated_preset_has_a_name_a_date_and_heights_of_its_own():
    """Heights without leaves: what a scan measures."""
    tree = wg.grow_tree("oak", seed=1)
    assert tree.wood_height < tree.height
    cal = wg.calibrate(tree, "oak", frequency_hz=0.24, verify=False)
    assert cal.species.name == "oak-calibrated"
    seen = cal.species.provenance
    assert seen.tree_height == (tree.wood_height, tree.wood_height)
    assert "m of wood" in seen.calibrated_on and "'oak'" in seen.source
    assert datetime.date.fromisoformat(seen.date) <= datetime.date.today()
    again = wg.calibrate(tree, cal.species, frequency_hz=0.25, verify=False)
    assert again.species.name == "oak-calibrated"
    mine = wg.calibrate(tree, "oak", frequency_hz=0.24, verify=False, name="site")
    assert mine.species.name == "site"


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"free": 3}, TypeError, "free: expected a sequence"),
        ({"fixed": 3}, TypeError, "fixed: expected a sequence"),
        ({"tied": [1]}, TypeError, "tied: expected a mapping"),
        ({"bounds": 3}, TypeError, "bounds: expected a mapping"),
        ({"uncertainty": 3}, TypeError, "uncertainty: expected a mapping"),
        ({"name": 3}, TypeError, "name: expected a word"),
        ({"frequency_hz": float("nan")}, ValueError, "frequency_hz"),
        ({"frequency_hz": []}, TypeError, "frequency_hz"),
        ({"sway_deg": (1, 2, 3)}, ValueError, "sway_deg"),
        ({"pull_and_release": ([1], [2])}, ValueError, "pull_and_release|angle"),
        ({"spectrum": ([], [])}, ValueError, "spectrum"),
    ],
)
def test_what_cannot_be_calibrated_is_refused_by_name(options, kind, text):
    with pytest.raises(kind, match=text):
        wg.calibrate(chain(), "oak", **{"frequency_hz": 0.24, **options})
