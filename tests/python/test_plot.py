"""What the plots draw: data and labels of their artists, never pixels."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

import windgrove as wg
from plot_scenes import fork_tree, formula_recording, formula_sweep
from windgrove.plot.shape import Camera, pose, ribbons, shape_of


@pytest.fixture(scope="module")
def tree():
    return fork_tree()


@pytest.fixture(scope="module")
def ds(tree):
    return formula_recording(tree, duration=40.0)


@pytest.fixture(scope="module")
def oak():
    return wg.load_species("oak")


@pytest.fixture(autouse=True)
def _no_setting_survives():
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    changed = {k for k in before if before[k] != mpl.rcParams[k] and not k.startswith("backend")}
    assert not changed


def every_plot(tree, ds, oak):
    return {
        "frequencies": lambda **k: wg.plot.frequencies(tree, oak, **k),
        "spectrum": lambda **k: wg.plot.spectrum(ds, **k),
        "sway": lambda **k: wg.plot.sway(ds, tree=tree, species=oak, **k),
        "history": lambda **k: wg.plot.history(ds, **k),
        "tree": lambda **k: wg.plot.tree(tree, ds, frame=10, **k),
    }


def test_every_plot_draws_on_the_axes_it_is_given_and_makes_no_figure(tree, ds, oak):
    for name, draw in every_plot(tree, ds, oak).items():
        figure, (left, right) = plt.subplots(1, 2)
        open_before = plt.get_fignums()
        drawing = draw(ax=right)
        assert plt.get_fignums() == open_before, name
        assert drawing.ax is right, name
        assert drawing.figure is figure, name
        assert not left.has_data(), name


def test_every_plot_names_both_axes_with_a_unit(tree, ds, oak):
    for name, draw in every_plot(tree, ds, oak).items():
        ax = draw().axes[-1]
        assert "(" in ax.get_xlabel() and "(" in ax.get_ylabel(), name


def test_every_plot_refuses_what_is_not_axes(tree, ds, oak):
    for draw in every_plot(tree, ds, oak).values():
        with pytest.raises(TypeError, match="ax: expected matplotlib axes, got str"):
            draw(ax="axes")


def test_set_and_realised_frequencies_are_those_of_realised(tree, oak):
    drawing = wg.plot.frequencies(tree, oak, dt=1 / 30)
    table = wg.realised(tree, oak, dt=1 / 30)
    trunk = drawing["trunk"].get_offsets()
    assert_allclose(trunk, [[table["frequency"][0], table["realised_frequency"][0]]])
    marked = np.asarray(drawing["clamped"].get_offsets())
    clamped = table["clamped"].to_numpy()
    assert 0 < clamped.sum() < len(tree)
    assert_allclose(marked[:, 0], table["frequency"].to_numpy()[clamped])
    assert_allclose(drawing["limit"].get_xdata(), 30 / (2 * np.pi))


def test_a_dead_beat_branch_is_shown_on_the_edge(tree, oak):
    stiff = oak.replace(branch={"zeta": 0.9, "beta": 5e7})
    drawing = wg.plot.frequencies(tree, stiff)
    lost = ~np.isfinite(wg.realised(tree, stiff)["realised_frequency"].to_numpy())
    assert lost.sum() > 0
    assert len(drawing["dead_beat"].get_offsets()) == lost.sum()


def test_the_trunks_spectrum_peaks_at_the_marked_frequency(tree, ds):
    drawing = wg.plot.spectrum(ds, segment=20)
    hertz, power = drawing["trunk"].get_data()
    marked = drawing["f_n trunk"].get_xdata()[0]
    assert_allclose(marked, ds["frequency"][0])
    band = hertz > 0.2
    # Welch's resolution is 1/20 Hz and the peak is at most one bin away.
    assert abs(hertz[band][np.argmax(power[band])] - marked) <= 1 / 20


def test_the_power_under_the_spectrum_is_the_variance_in_square_degrees(ds):
    """A sine of whole periods: variance amplitude^2 / 2, and a Hann window keeps it (Parseval)."""
    sine = ds.isel(time=slice(1, 1201)).copy(deep=True)
    sine["rotation"][:] = 0
    sine["rotation"][:, 0, 0, 1] = 0.05 * np.sin(2 * np.pi * sine["time"].to_numpy())
    drawing = wg.plot.spectrum(sine, branch=0, segment=10)
    hertz, power = drawing["trunk 0"].get_data()
    area = power.sum() * (hertz[1] - hertz[0])
    assert_allclose(area, np.degrees(0.05) ** 2 / 2, rtol=1e-4)


def test_sway_is_drawn_in_degrees_against_metres_a_second(tree, ds, oak):
    drawing = wg.plot.sway(ds, tree=tree, species=oak)
    points = np.asarray(drawing["frames"].get_offsets())
    angle = np.degrees(np.linalg.norm(ds["rotation"].to_numpy()[:, 0, 0], axis=1))
    assert_allclose(points[:, 0], ds["wind"].to_numpy()[:, 0, 0, 0])
    assert_allclose(points[:, 1], angle, rtol=1e-6)


def test_the_static_curve_solves_its_equation(tree, ds, oak):
    p = wg.branch_parameters(tree, oak)
    v, degrees = wg.plot.sway(ds, tree=tree, species=oak)["static"].get_data()
    theta = np.radians(degrees)
    assert_allclose(p.stiffness[0] * theta, p.drag[0] * v * np.cos(theta), rtol=1e-9, atol=1e-9)


def test_sway_without_recorded_wind_says_how_to_record_it(ds):
    with pytest.raises(ValueError, match='channels=\\("rotation", "wind"\\)'):
        wg.plot.sway(ds.drop_vars("wind"))


def test_a_part_of_the_history_is_drawn(ds):
    drawing = wg.plot.history(ds, start=5, stop=6)
    time = drawing["angle"].get_xdata()
    assert time[0] == 5 and time[-1] == 6
    assert len(drawing.axes) == 2


def test_the_strong_line_of_a_sweep_holds_the_other_parameters_at_their_middle():
    table = formula_sweep()
    drawing = wg.plot.sweep(table)
    x, y = drawing["realised_frequency beta"].get_data()
    assert_allclose(x, table["beta"])
    assert_allclose(y, table["realised_frequency"].sel(zeta=1, gamma=1, level="trunk"))
    _, y = drawing["sway_rms gamma"].get_data()
    expected = np.degrees(table["sway_rms"].sel(beta=1, zeta=1, level="trunk"))
    assert_allclose(y, expected)
    assert len(drawing.axes) == 9


def test_a_sweep_of_points_is_drawn_as_dots():
    grid = formula_sweep().stack(point=["beta", "zeta", "gamma"]).reset_index("point")
    drawing = wg.plot.sweep(grid, level="branch")
    assert len(drawing["sway_rms zeta"].get_offsets()) == 27


def test_a_level_that_is_not_there_is_refused_by_name():
    with pytest.raises(ValueError, match="level: expected one of trunk, branch, foliage"):
        wg.plot.sweep(formula_sweep(), level="twig")


def test_a_tree_at_rest_is_drawn_where_it_stands(tree):
    drawing = wg.plot.tree(tree)
    shape = shape_of(tree)
    corners = np.concatenate([path.vertices for path in drawing["wood"].get_paths()])
    reach = np.concatenate([shape.wood_start, shape.wood_end])
    # Strips reach their half width beyond the axis.
    slack = shape.wood_radius.max()
    assert abs(corners[:, 1].max() - reach[:, 2].max()) <= slack
    assert abs(corners[:, 0].min() - reach[:, 0].min()) <= slack
    assert "at rest" in drawing["title"].get_text()


def test_the_pose_turns_each_branch_about_its_pivot_and_carries_its_children(tree):
    angle = np.radians(20)
    rotation = np.zeros((len(tree), 3))
    rotation[0] = [0, angle, 0]
    children = np.flatnonzero(tree.parent == 0)
    rest = tree.position[children]
    moved = pose(tree, rotation, rest, children)
    for before, after in zip(rest, moved, strict=True):
        # A child hangs at the place it grows from: turned by the trunk's angle there.
        local = angle * min(np.linalg.norm(before) / tree.length[0], 1)
        turn = np.array(
            [[np.cos(local), 0, np.sin(local)], [0, 1, 0], [-np.sin(local), 0, np.cos(local)]]
        )
        assert_allclose(after, turn @ before, atol=1e-12)
    assert_allclose(pose(tree, rotation, tree.position[:1], np.array([0])), tree.position[:1])


def test_a_wind_along_x_moves_the_drawn_crown_to_the_right(tree):
    rotation = np.zeros((len(tree), 3))
    rotation[0, 1] = 0.1  # about +y: z turns towards +x
    top = int(np.argmax(tree.tip[:, 2]))
    moved = pose(tree, rotation, tree.tip[[top]], np.array([top]))
    assert moved[0, 0] > tree.tip[top, 0]
    assert Camera(0.0).flat(moved)[0, 0] > Camera(0.0).flat(tree.tip[[top]])[0, 0]


def test_a_strip_is_as_wide_as_its_cylinder():
    corners = ribbons(np.array([[0.0, 0.0]]), np.array([[0.0, 2.0]]), np.array([0.25]))
    assert_allclose(np.ptp(corners[0], axis=0), [0.5, 2.0])


@pytest.mark.parametrize("colour", ["kind", "level", "frequency", "sway", "clamped"])
def test_every_colouring_has_a_key(tree, ds, oak, colour):
    drawing = wg.plot.tree(tree, ds, frame=10, colour=colour, species=oak)
    assert "legend" in drawing.artists or drawing["colorbar"].ax.get_ylabel()


def test_a_recording_of_another_tree_is_refused(ds):
    with pytest.raises(ValueError, match=r"ds: holds .* branches, the tree has"):
        wg.plot.tree(fork_tree(2), ds)
    with pytest.raises(ValueError, match="frame"):
        wg.plot.tree(fork_tree(), ds, frame=10**6)


def test_an_animation_writes_a_gif_that_moves(tree, ds, tmp_path):
    from PIL import Image

    film = wg.plot.animate(tree, ds, tmp_path / "sway.gif", start=2, stop=3, fps=10)
    assert film.path == tmp_path / "sway.gif"
    with Image.open(film.path) as picture:
        assert picture.n_frames == len(film.frames) == 11
        assert picture.info["duration"] == 100
        first = np.asarray(picture.convert("RGB"))
        picture.seek(10)
        assert (np.asarray(picture.convert("RGB")) != first).any()


def test_an_animation_shows_itself_and_writes_a_page(tree, ds, tmp_path):
    film = wg.plot.animate(tree, ds, start=2, stop=2.2)
    assert film._repr_html_().startswith("<img")
    page = film.save(tmp_path / "sway.html").read_text()
    assert "data:image/png;base64" in page
    with pytest.raises(ValueError, match=r"path: expected a name ending in \.gif or \.html"):
        film.save(tmp_path / "sway.mp4")
    with pytest.raises(FileNotFoundError, match="path: there is no folder"):
        film.save(tmp_path / "nowhere" / "sway.gif")


def test_a_narrow_figure_gets_a_papers_sizes(tree, oak):
    _, narrow = plt.subplots(figsize=(3.5, 2.6))
    _, wide = plt.subplots(figsize=(7, 4))
    small = wg.plot.frequencies(tree, oak, ax=narrow)["legend"].get_texts()[0].get_fontsize()
    large = wg.plot.frequencies(tree, oak, ax=wide)["legend"].get_texts()[0].get_fontsize()
    assert small < large
    with wg.plot.style("paper"):
        assert_allclose(wg.plot.frequencies(tree, oak).figure.get_figwidth(), 3.5)
    with (
        pytest.raises(ValueError, match="size: expected one of notebook, paper"),
        wg.plot.style("x"),
    ):
        pass
