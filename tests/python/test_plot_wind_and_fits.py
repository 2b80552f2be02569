"""Slices of the wind, decays and calibrations: data and labels of the artists."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import windgrove as wg
from plot_scenes import fork_tree


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def wind():
    w = wg.Wind(
        (5, 1, 0), cells=(12, 10, 8), levels=2, cell_size=1.0, turbulence=0.2, seed=3,
        solids=[wg.Box((-3, -2, 0), (-1, 2, 3))],
    )  # fmt: skip
    for _ in range(10):
        w.step()
    return w


@pytest.mark.parametrize("axis, component", [("x", 0), ("y", 1), ("z", 2)])
def test_a_slice_shows_the_speeds_of_its_layer_of_cells(wind, axis, component):
    drawing = wg.plot.wind(wind, axis=axis, at=1.2)
    shown = drawing["speed"].get_array()
    layer = int(np.floor((1.2 - wind.origin(0)[component]) / wind.spacing(0)))
    speed = np.linalg.norm(wind.velocity(0).astype(float), axis=0)
    expected = np.take(speed, layer, axis=2 - component)
    solid = np.take(wind.solid(0), layer, axis=2 - component)
    assert_array_equal(np.ma.getmaskarray(shown).reshape(expected.shape), solid)
    assert_allclose(np.asarray(shown).reshape(expected.shape)[~solid], expected[~solid])


def test_a_map_lies_where_its_cells_are(wind):
    ax = wg.plot.wind(wind).ax
    low = np.asarray(wind.origin(0))
    assert_allclose(ax.get_xlim(), [low[0], low[0] + 14])
    assert_allclose(ax.get_ylim(), [low[1], low[1] + 12])
    assert ax.get_xlabel() == "x (m)" and ax.get_ylabel() == "y (m)"


def test_arrows_point_with_the_air(wind):
    drawing = wg.plot.wind(wind, axis="y", at=4)
    arrows = drawing["arrows"]
    assert (arrows.U > 0).mean() > 0.9  # the prevailing wind goes to +x
    assert "arrows" not in wg.plot.wind(wind, arrows=0).artists


def test_a_coarser_grid_shows_where_the_finer_one_is(wind):
    box = wg.plot.wind(wind, level=1)["finer"]
    assert_allclose(box.get_xy(), wind.origin(0)[:2])


def test_a_plane_outside_the_grid_is_refused_with_its_range(wind):
    with pytest.raises(ValueError, match=r"at: expected .* to .* m on this grid, got 99"):
        wg.plot.wind(wind, at=99)
    with pytest.raises(TypeError, match="wind: expected a Wind with grids"):
        wg.plot.wind(wg.UniformWind((1, 0, 0)))


def test_a_decay_is_drawn_with_its_fit_and_envelope():
    t = np.arange(0, 30, 1 / 30)
    y = 0.08 * np.exp(-0.1 * t) * np.cos(1.8 * t)
    drawing = wg.plot.decay(t, y)
    assert_allclose(drawing["record"].get_ydata(), y)
    fine, fitted = drawing["fit"].get_data()
    assert_allclose(fitted, 0.08 * np.exp(-0.1 * fine) * np.cos(1.8 * fine), atol=1e-6)
    assert_allclose(drawing["envelope"][0].get_ydata(), 0.08 * np.exp(-0.1 * fine), atol=1e-5)
    assert "10 s" in drawing["envelope"][0].get_label()


def test_a_calibration_shows_each_target_and_each_parameter():
    result = wg.calibrate(fork_tree(2), "oak", frequency_hz=0.6, damping_ratio=0.07)
    drawing = wg.plot.calibration(result)
    assert_allclose(drawing["predicted"].get_xdata(), 1.0, rtol=1e-6)
    values = drawing["estimates"].lines[0].get_xdata()
    assert_allclose(values, [e.value / e.start for e in result.estimates])
    labels = [text.get_text() for text in drawing.axes[0].get_yticklabels()]
    assert labels == ["frequency_hz\ntrunk", "damping_ratio\ntrunk"]


def test_a_regression_shows_trees_line_and_published_laws():
    import xarray as xr

    height = np.array([10.0, 15.0, 20.0, 25.0, 30.0])
    dbh = np.array([0.2, 0.28, 0.33, 0.4, 0.45])
    sizes = xr.Dataset(
        {"height": ("tree", height), "dbh": ("tree", dbh)}
        | {"frequency": ("tree", 0.1 + 200 * dbh / height**2)}
    )
    drawing = wg.plot.regression(sizes)
    x, y = drawing["line"].get_data()
    assert_allclose(y, 0.1 + 200 * x, rtol=1e-9)
    assert_allclose(np.asarray(drawing["trees"].get_offsets())[:, 0], dbh / height**2)
    names = {law.name for law in wg.analysis.published_laws("dbh_h2")}
    assert {f"law {name}" for name in names} <= set(drawing.artists)
    assert not [n for n in wg.plot.regression(sizes, laws=False).artists if n.startswith("law")]
