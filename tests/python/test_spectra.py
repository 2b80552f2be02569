"""Spectra, transfer, coherence, rainflow and regressions against closed forms and tables."""

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose, assert_array_equal
from scipy import signal

import windgrove as wg
from windgrove.analysis import (
    coherence,
    fit_line,
    frequency_regression,
    power_spectrum,
    published_laws,
    rainflow,
    transfer_function,
    tree_sizes,
)
from windgrove.analysis.cycles import reversals
from windgrove.trees.tree import Tree

DT = 1 / 30


def noise(count, seed, columns=()):
    return np.random.default_rng(seed).normal(size=(count, *columns))


def labelled(values, units="rad", dims=("time",)):
    return xr.DataArray(
        values, dims=dims, coords={"time": np.arange(len(values)) * DT}, attrs={"units": units}
    )


def test_a_sine_has_its_variance_at_its_frequency():
    """Amplitude a gives a^2/2, on whole periods of a Hann window within rounding."""
    time = np.arange(3000) * DT
    spectrum = power_spectrum(labelled(0.3 * np.sin(2 * np.pi * 1.5 * time)), segment=20)
    assert_allclose(spectrum.sum() * spectrum.attrs["resolution"], 0.3**2 / 2, rtol=1e-10)
    assert_allclose(spectrum.frequency[int(np.argmax(spectrum.values))], 1.5)
    assert spectrum.attrs["units"] == "rad2 Hz-1" and spectrum.frequency.attrs["units"] == "Hz"


def test_white_noise_is_flat():
    """Density sigma^2 * 2 dt. 200 segments overlapping by half: 6 % standard error a line, five
    of them for the worst of 100 lines."""
    spectrum = power_spectrum(labelled(2 * noise(20_000, 0)), segment=200 * DT)
    assert_allclose(spectrum[2:-2], 4 * 2 * DT, rtol=0.35)
    assert_allclose(spectrum[2:-2].mean(), 4 * 2 * DT, rtol=0.02)


def test_other_dimensions_stay():
    data = labelled(noise(600, 1, (2, 5, 3)), dims=("time", "instance", "branch", "component"))
    data = data.assign_coords(frequency=("branch", np.ones(5)), level=("branch", np.arange(5)))
    spectrum = power_spectrum(data)
    assert spectrum.dims == ("frequency", "instance", "branch", "component")
    assert_array_equal(spectrum.level, np.arange(5))
    assert_allclose(
        spectrum.isel(instance=1, branch=2, component=0),
        power_spectrum(data.isel(instance=1, branch=2, component=0)),
    )


def oscillator(wind, f0, zeta, gain):
    """The exact discrete response of theta'' + 2 zeta w theta' + w^2 theta = w^2 gain wind to a
    wind that is linear between samples."""
    w = 2 * np.pi * f0
    system = signal.cont2discrete(([w * w * gain], [1, 2 * zeta * w, w * w]), DT, method="foh")
    return signal.lfilter(system[0].ravel(), system[1], wind)


def test_the_transfer_function_is_that_of_the_oscillator():
    """H(f) = gain / (1 - r^2 + 2 i zeta r). Linear interpolation damps by sinc^2(f dt), 1 % at
    1 Hz; a resolution of 1/240 Hz smears the resonance of 0.08 Hz width by (1/19)^2 of itself:
    0.5 %, four times that at its flanks."""
    wind = noise(240_000, 3)
    sway = oscillator(wind, 0.4, 0.1, 0.02)
    found = transfer_function(labelled(wind, "m s-1"), labelled(sway), segment=240)
    f = found.frequency.values[1:240]
    r = f / 0.4
    exact = 0.02 / (1 - r**2 + 2j * 0.1 * r) * np.sinc(f * DT) ** 2
    assert_allclose(found.gain[1:240], np.abs(exact), rtol=0.02)
    assert_allclose(found.phase[1:240], np.angle(exact), atol=0.02)
    assert (found.coherence[1:240] > 0.95).all()
    assert found.gain.attrs["units"] == "rad / (m s-1)"


def test_noise_in_the_sway_lowers_the_coherence_and_not_the_gain():
    """Output noise of n times the signal's power: coherence 1 / (1 + n), gain unbiased."""
    wind = noise(90_000, 4)
    found = transfer_function(wind, 3 * wind + 3 * noise(90_000, 5), dt=DT, segment=4)
    assert_allclose(found.coherence[1:-1].mean(), 0.5, atol=0.01)
    assert_allclose(found.gain[1:-1].mean(), 3, rtol=0.01)
    scatter = float((found.gain[1:-1] - 3).std() / 3)
    # Segments overlap, so that the error counts fewer averages than there are.
    assert 0.6 < scatter / float(found.gain_error[1:-1].mean()) < 1.05


def test_coherence_tells_related_from_unrelated_motion():
    common = noise(30_000, 6)
    trunk = labelled(common)
    branches = labelled(np.stack([2 * common, noise(30_000, 7)], axis=1), dims=("time", "branch"))
    found = coherence(trunk, branches, segment=10)
    assert_allclose(found.isel(branch=0), 1, atol=1e-10)
    # 5 % exceed the threshold at independent segments, fewer where they overlap.
    share = float((found.isel(branch=1) > found.attrs["threshold"]).mean())
    assert share < 0.08
    assert found.dims == ("frequency", "branch")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: power_spectrum(np.ones(100)), "dt: needed"),
        (lambda: power_spectrum(np.ones(10), dt=DT), "too short"),
        (lambda: power_spectrum(np.full(100, np.nan), dt=DT), "not finite"),
        (lambda: power_spectrum(np.ones(100), dt=DT, segment=60), "segment"),
        (lambda: power_spectrum(xr.DataArray(np.ones(50), dims="x")), "no dimension `time`"),
        (lambda: coherence(np.ones(100), np.ones(90), dt=DT), "times of first"),
        (lambda: coherence(noise(64, 1), noise(64, 2), dt=DT, segment=64 * DT), "two segments"),
        (
            lambda: power_spectrum(
                xr.DataArray(np.ones(50), coords={"time": np.arange(50) ** 2.0})
            ),
            "uniform",
        ),
    ],
)
def test_what_has_no_spectrum_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_the_standard_example_of_rainflow_counting():
    """ASTM E1049-85, figure 6: the load history and its table of cycle counts."""
    cycles = rainflow([-2, 1, -3, 5, -1, 3, -4, 4, -2])
    counts = {r: cycles.count[cycles.range == r].sum() for r in np.unique(cycles.range)}
    assert counts == {3: 0.5, 4: 1.5, 6: 0.5, 8: 1.0, 9: 0.5}
    assert_array_equal(cycles.histogram(np.arange(0.5, 10)), [0, 0, 0.5, 1.5, 0, 0.5, 0, 1, 0.5])


def test_a_sine_counts_its_periods():
    time = np.linspace(0, 10, 2001)
    cycles = rainflow(2 * np.sin(2 * np.pi * time))
    big = cycles.range > 3.9
    # 10 periods; the first and the last quarter are smaller half cycles.
    assert_allclose(cycles.count[big].sum(), 9.5, atol=0.51)
    assert_allclose(cycles.range[big], 4, rtol=1e-3)
    assert_allclose(cycles.damage_equivalent_range(4), 4, rtol=0.1)


def test_every_range_between_reversals_is_counted_once():
    """Half of all ranges are closed as cycles: two ranges a full cycle, one a half cycle."""
    y = noise(5000, 9)
    cycles = rainflow(y)
    assert_allclose(2 * cycles.count.sum(), len(reversals(y)) - 1)
    assert cycles.range.max() == np.ptp(y)
    doubled = rainflow(np.repeat(y, 3))
    assert_allclose(np.sort(doubled.range), np.sort(cycles.range))
    assert (rainflow(y, threshold=1.0).range > 1).all()


def test_a_constant_record_has_no_cycles():
    for record in ([], [1.0], np.ones(50)):
        assert len(rainflow(record).range) == 0 and rainflow(record).damage_equivalent_range(3) == 0


def test_the_line_and_its_intervals_are_those_of_the_textbook():
    """Anscombe 1973, first set: 3.0001 + 0.5001 x, standard errors 1.125 and 0.118, R2 0.667."""
    x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
    y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
    fit = fit_line(x, y)
    assert_allclose([fit.intercept, fit.slope, fit.r2], [3.0001, 0.5001, 0.6665], atol=5e-5)
    t9 = 2.262157
    assert_allclose(np.diff(fit.slope_interval) / 2 / t9, 0.1179, atol=5e-5)
    assert_allclose(np.diff(fit.intercept_interval) / 2 / t9, 1.1247, atol=5e-5)
    low, high = fit.band(np.mean(x))
    assert_allclose(high - low, 2 * t9 * fit.spread / np.sqrt(11), rtol=1e-6)
    new = np.diff(fit.band(np.mean(x), new=True))
    assert_allclose(new, 2 * t9 * fit.spread * np.sqrt(12 / 11), rtol=1e-6)


def test_the_slope_interval_holds_the_truth_nineteen_times_of_twenty():
    """400 lines: 380 expected, deviation 4.4."""
    rng, hits = np.random.default_rng(11), 0
    for _ in range(400):
        x = rng.uniform(0, 1, 12)
        fit = fit_line(x, 1 + 2 * x + rng.normal(size=12))
        hits += fit.slope_interval[0] <= 2 <= fit.slope_interval[1]
    assert 365 <= hits <= 395


def pole(height, radius):
    return Tree([[0, 0, 0]], [[0, 0, 1]], [height], [np.pi * radius**2 * height], [0], [0], [-1])


def test_model_trees_of_one_species_fall_as_one_over_height():
    """MODEL 2.2: f = sqrt(beta / 500) / (2 pi l) without foliage, whatever the diameter."""
    trees = [pole(h, r) for h, r in [(5, 0.1), (8, 0.3), (12, 0.2), (20, 0.5), (30, 0.4)]]
    sizes = tree_sizes(trees, "oak")
    assert_allclose(sizes.dbh, [0.2, 0.6, 0.4, 1.0, 0.8])
    fits = frequency_regression(sizes)
    slope = np.sqrt(wg.load_species("oak").trunk.beta / 500) / (2 * np.pi)
    assert_allclose(fits["inverse_h"].slope, slope, rtol=1e-12)
    assert_allclose(fits["inverse_h"].intercept, 0, atol=1e-12)
    assert fits["inverse_h"].r2 > 1 - 1e-12 > fits["inverse_sqrt_h"].r2 > fits["dbh_h2"].r2


def test_the_published_laws_give_their_median_trees():
    """NUMBERS 5.1 and 5.2: field trees of 12 to 25 m sway at 0.166 to 0.260 Hz; the anchor
    wytham_winter_1009a (20.35 m, 0.246 m) at 0.178 Hz, which its law meets within its scatter."""
    for law in published_laws():
        assert law.source and 0.1 < law.frequency(20.0, 0.4) < 0.5
    by_height = {law.predictor: law for law in published_laws() if law.name == "field broadleaves"}
    assert_allclose(by_height["inverse_h"].frequency(18.08), 0.202, atol=5e-4)
    assert_allclose(by_height["inverse_sqrt_h"].frequency(18.08), 0.2025, atol=5e-4)
    elements = next(law for law in published_laws("dbh_h2") if "no gravity" in law.name)
    assert_allclose(elements.frequency(20.35, 0.246), 0.1458, atol=5e-4)
    assert not next(law for law in published_laws() if law.name == "conifers").verified
    with pytest.raises(ValueError, match="predictor"):
        published_laws("h")


def test_a_folder_of_scanned_trees_gives_a_regression(data):
    files = [data / "leafgen" / "ExampleQSM.mat", *(data / "itsme").glob("qsm_*.mat")]
    trees = [wg.read_tree(path) for path in sorted(files)]
    sizes = tree_sizes(trees, "oak")
    assert (sizes.height > 3).all() and (sizes.frequency > 0).all()
    dbh = dict(zip(sizes.tree.values.tolist(), sizes.dbh.values.tolist(), strict=True))
    assert any(0.05 < value < 1.5 for value in dbh.values())
    fits = frequency_regression(sizes, ["inverse_h"])
    assert fits["inverse_h"].count == len(trees)


def test_points_that_make_no_line_are_refused():
    with pytest.raises(ValueError, match="three points"):
        fit_line([1, 2, np.nan], [1, 2, 3])
    with pytest.raises(ValueError, match="same x"):
        fit_line([1, 1, 1], [1, 2, 3])
    with pytest.raises(ValueError, match="none given"):
        tree_sizes([])


@pytest.mark.parametrize("window", ["hahn", None, {}, object()])
def test_a_window_that_is_none_is_refused_by_name(window):
    waves = np.sin(np.arange(400))
    for spectrum in (
        lambda: power_spectrum(waves, dt=0.1, window=window),
        lambda: transfer_function(waves, waves, dt=0.1, window=window),
        lambda: coherence(waves, waves, dt=0.1, window=window),
    ):
        with pytest.raises(ValueError, match=r"window: .* is none of scipy's"):
            spectrum()
