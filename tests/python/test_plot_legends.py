"""Legends lie on no data, at every size; axes from zero keep room above what they show."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import windgrove as wg
from plot_scenes import formula_recording


@pytest.fixture(scope="module")
def scene():
    tree = wg.grow_tree("birch", seed=1)
    return tree, formula_recording(tree, duration=40.0), wg.load_species("birch")


def decay_record():
    time = np.arange(0, 30, 1 / 30)
    noise = np.random.default_rng(1).normal(scale=0.003, size=time.size)
    return time, 0.08 * np.exp(-0.09 * time) * np.cos(1.8 * time) + noise


DRAWN = {
    "spectrum": (lambda s, **k: wg.plot.spectrum(s[1], **k), ("trunk", "branch", "foliage")),
    "sway": (lambda s, **k: wg.plot.sway(s[1], tree=s[0], species=s[2], **k), ("frames", "median")),
    "history": (lambda s, **k: wg.plot.history(s[1], **k), ("x", "y", "angle")),
    "frequencies": (
        lambda s, **k: wg.plot.frequencies(s[0], s[2], dt=0.1, **k),
        ("trunk", "branch", "foliage", "clamped", "limit_text"),
    ),
    "damping": (
        lambda s, **k: wg.plot.frequencies(s[0], s[2], quantity="damping_ratio", **k),
        ("trunk", "branch", "foliage"),
    ),
    "decay": (lambda s, **k: wg.plot.decay(*decay_record(), **k), ("record", "fit")),
}


def places(axes, artist):
    """Display coordinates of what an artist shows, densely along lines."""
    if hasattr(artist, "get_xydata"):
        at = axes.transData.transform(artist.get_xydata())
        dense = np.linspace(0, len(at) - 1, 2000)
        own = np.arange(len(at))
        return np.column_stack([np.interp(dense, own, at[:, i]) for i in (0, 1)])
    if hasattr(artist, "get_offsets"):
        return axes.transData.transform(artist.get_offsets())
    return artist.get_window_extent().get_points()


@pytest.mark.parametrize("size", ["notebook", "paper", "panel"])
@pytest.mark.parametrize("name", list(DRAWN))
def test_no_data_lie_under_a_legend(scene, name, size):
    """ "panel" is a part of a larger figure, as on the demo's sheet."""
    draw, shown = DRAWN[name]
    if size == "panel":
        figure = plt.figure(figsize=(5.2, 4.4), dpi=170, layout="constrained")
        axes = figure.subplots(2, 2)
        with wg.plot.style("paper"):
            drawing = draw(scene, ax=axes[0, 1])
    else:
        with wg.plot.style(size):
            drawing = draw(scene)
    drawing.figure.draw_without_rendering()
    axes, box = drawing["legend"].axes, drawing["legend"].get_window_extent()
    for artist in shown:
        if artist not in drawing.artists:
            continue
        x, y = places(axes, drawing[artist]).T
        with np.errstate(invalid="ignore"):
            under = (x > box.x0) & (x < box.x1) & (y > box.y0) & (y < box.y1)
        assert not under.any(), f"{artist}: {int(under.sum())} points"
    plt.close("all")


@pytest.mark.parametrize("size", ["notebook", "paper"])
def test_a_legend_is_no_wider_than_its_axes(scene, size):
    with wg.plot.style(size):
        drawing = DRAWN["decay"][0](scene)
    drawing.figure.draw_without_rendering()
    box, frame = drawing["legend"].get_window_extent(), drawing.ax.get_window_extent()
    assert frame.x0 <= box.x0 and box.x1 <= frame.x1
    plt.close("all")


def test_an_axis_from_zero_keeps_room_above_a_narrow_range(scene):
    """6 m/s with little gust: a twentieth of the range is nothing of the whole axis."""
    drawing = wg.plot.history(scene[1])
    top = drawing.axes[0].get_ylim()[1]
    assert top >= 1.05 * np.nanmax(drawing["wind"].get_ydata())
    plt.close("all")


def test_a_sweep_over_factors_has_its_ticks_at_them(scene):
    table = wg.sweep(
        scene[0],
        "birch",
        beta=[0.25, 0.5, 1, 2, 4],
        wind=wg.UniformWind((5, 0, 0)),
        duration=0.5,
        progress=False,
    )
    drawing = wg.plot.sweep(table)
    labels = [text.get_text() for text in drawing.axes[-1].get_xticklabels()]
    assert labels == ["0.25", "0.5", "1", "2", "4"]
    assert not len(drawing.axes[-1].get_xticks(minor=True))
    plt.close("all")


def test_a_species_may_be_a_name_and_a_slice_says_where_it_lies(scene):
    assert "birch" in wg.plot.frequencies(scene[0], "birch").ax.get_title(loc="left")
    wind = wg.Wind((5, 0, 0), cells=(8, 8, 8), levels=1, seed=1)
    title = wg.plot.wind(wind, at=2.0).ax.get_title(loc="left")
    assert "z = 1.75 m (cells nearest to 2 m)" in title
    assert "nearest" not in wg.plot.wind(wind, at=1.75).ax.get_title(loc="left")
    plt.close("all")
