"""Trees drawn from the side, at rest and deflected, and moving."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import choice, flag, integer, number
from ..trees.tree import KIND_NAMES, Tree
from .data import degrees, recorded_rotation
from .shape import LEAVES_A_BUNDLE, Camera, Shape, leaves, pose, ribbons, shape_of
from .styles import COLOURS, FAINT, INK, QUIET, Drawing, one, plain_log, styled

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

COLOUR_BY = ("kind", "level", "frequency", "sway", "clamped")
_WOOD_DARK = "#5b4636"
_LABELS = {
    "frequency": "natural frequency, set (Hz)",
    "sway": "turned from rest (degrees)",
    "level": "depth below the trunk",
}


@styled
def tree(
    tree: Tree,
    ds: xr.Dataset | None = None,
    *,
    frame: int | None = None,
    instance: int = 0,
    colour: str | ArrayLike = "kind",
    species: Any = None,
    dt: float = 1 / 30,
    azimuth_deg: float = 0.0,
    exaggerate: float = 1.0,
    rest: bool = True,
    ax: Axes | None = None,
) -> Drawing:
    """Draw a tree from the side: at rest, or at one frame of a recording over its rest pose.

    Parameters
    ----------
    tree : Tree
    ds : xarray.Dataset, optional
        A recording with ``rotation (time, instance, branch, component)`` in rad. Without it the
        tree is drawn at rest.
    frame : int, optional
        Index along time; negative counts from the end. By default the frame of greatest sway.
    instance : int, default 0
    colour : {"kind", "level", "frequency", "sway", "clamped"} or array_like (n,)
        What the colours say: kind of branch, depth, set natural frequency (Hz), angle from rest
        (degrees), clamped or not; or your own value for each branch. "frequency" and "clamped"
        need `species` unless `ds` holds ``frequency``.
    species : Species, optional
        For the colours "frequency" and "clamped".
    dt : float, default 1/30
        Time step that decides what is clamped, s; used without `ds`.
    azimuth_deg : float, default 0
        Direction of the drawing's right-hand side, degrees from +x towards +y.
    exaggerate : float, default 1
        Multiplies every angle; the title says so where it is not 1.
    rest : bool, default True
        Whether the rest pose is drawn in grey behind a deflected tree.
    ax : matplotlib Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Drawing
        Artists "wood" and, where there are any, "leaves", "rest" (PolyCollections), "colorbar" or
        "legend".

    Raises
    ------
    ValueError
        `ds` has no rotation or another number of branches; `frame` or `instance` outside it.
    """
    rest, dt = flag(rest, "rest"), number(dt, "dt", above=0)
    exaggerate = number(exaggerate, "exaggerate")
    axes = one(ax, figsize=(5.6, 5.6))
    camera = Camera(np.radians(number(azimuth_deg, "azimuth_deg")))
    shape = shape_of(tree)
    rotation, time = posed_frame(tree, ds, frame, instance)
    turned = None if rotation is None else rotation * exaggerate
    artists: dict[str, Any] = {}
    if turned is not None and rest:
        artists["rest"] = _rest(axes, tree, shape, camera)
    values, label = branch_values(tree, ds, colour, species, dt, rotation)
    artists |= _draw(axes, tree, shape, camera, turned, values, label)
    _frame_axes(axes, artists, camera)
    artists["title"] = axes.set_title(_title(tree, time, rotation, exaggerate))
    return Drawing((axes,), artists)


def posed_frame(
    tree: Tree, ds: xr.Dataset | None, frame: int | None, instance: int
) -> tuple[NDArray[np.float64] | None, float]:
    instance = integer(instance, "instance")
    if ds is None:
        if frame is not None:
            raise ValueError("frame: there is no recording to take it from; give ds=")
        return None, 0.0
    rotation = recorded_rotation(ds, instance=instance)
    if rotation.sizes["branch"] != len(tree):
        raise ValueError(
            f"ds: holds {rotation.sizes['branch']} branches, the tree has {len(tree)}; "
            "draw it with the tree it was recorded from, all branches recorded"
        )
    count = rotation.sizes["time"]
    if frame is None:
        trunk = rotation.isel(branch=int(tree.roots[0]))
        frame = int(np.argmax(np.linalg.norm(trunk.to_numpy(), axis=-1)))
    frame = integer(frame, "frame", low=-count, high=count - 1)
    chosen = rotation.isel(time=frame)
    return chosen.to_numpy().astype(np.float64), float(chosen["time"])


def branch_values(
    tree: Tree, ds: xr.Dataset | None, colour: Any, species: Any, dt: float, rotation: Any
) -> tuple[NDArray[Any], str]:
    """What each branch is coloured by, and its label."""
    if not isinstance(colour, str):
        given = np.asarray(colour, dtype=np.float64)
        if given.shape != (len(tree),):
            raise ValueError(f"colour: expected shape ({len(tree)},), got {given.shape}")
        return given, ""
    choice(colour, "colour", COLOUR_BY)
    if colour == "kind":
        return tree.kind, "kind"
    if colour == "level":
        assert tree.level is not None
        return tree.level.astype(np.float64), _LABELS["level"]
    if colour == "sway":
        if rotation is None:
            raise ValueError("colour: 'sway' needs a recording; give ds=")
        return degrees(np.linalg.norm(rotation, axis=1)), _LABELS["sway"]
    if species is None and not (ds is not None and "frequency" in ds):
        raise ValueError(f"colour: {colour!r} needs species= (or a recording with frequency)")
    if species is None:
        assert ds is not None
        frequency = ds["frequency"].to_numpy()
        clamped = frequency > 1 / (2 * np.pi * ds.attrs.get("dt", dt))
    else:
        from ..analysis.frequencies import realised

        table = realised(tree, species, dt=dt)
        frequency, clamped = table["frequency"].to_numpy(), table["clamped"].to_numpy()
    if colour == "clamped":
        return clamped.astype(bool), "clamped"
    return frequency, _LABELS["frequency"]


def _rest(axes: Axes, tree: Tree, shape: Shape, camera: Camera) -> Any:
    from matplotlib.collections import PolyCollection

    grey = "#d4d4d4"
    corners = [*leaf_polygons(tree, shape, camera, None), *wood_polygons(tree, shape, camera, None)]
    rest = PolyCollection(corners, facecolors=grey, edgecolors=grey, linewidths=0.3, zorder=1)
    axes.add_collection(rest)
    return rest


def wood_polygons(
    tree: Tree, shape: Shape, camera: Camera, rotation: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """(p, 4, 2) corners of the wood, posed and projected, m."""
    start = camera.flat(pose(tree, rotation, shape.wood_start, shape.wood_branch))
    end = camera.flat(pose(tree, rotation, shape.wood_end, shape.wood_branch))
    return ribbons(start, end, shape.wood_radius)


def leaf_polygons(
    tree: Tree, shape: Shape, camera: Camera, rotation: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """(7 q, 4, 2) corners of the leaves, posed and projected, m."""
    start = camera.flat(pose(tree, rotation, shape.leaf_start, shape.leaf_branch))
    end = camera.flat(pose(tree, rotation, shape.leaf_end, shape.leaf_branch))
    return leaves(start, end, shape.leaf_half_width)


def leaf_order(shape: Shape, camera: Camera) -> NDArray[np.intp]:
    """Order of the leaves from far to near."""
    bundles = np.argsort(-camera.depth(shape.leaf_start), kind="stable")
    return (bundles[:, None] * LEAVES_A_BUNDLE + np.arange(LEAVES_A_BUNDLE)).ravel()


def _draw(
    axes: Axes,
    tree: Tree,
    shape: Shape,
    camera: Camera,
    rotation: NDArray[np.float64] | None,
    values: NDArray[Any],
    label: str,
) -> dict[str, Any]:
    from matplotlib.collections import PolyCollection

    paint, key = _painter(axes, values, label)
    far_first = np.argsort(-camera.depth(shape.wood_start), kind="stable")
    wood = PolyCollection(list(wood_polygons(tree, shape, camera, rotation)[far_first]))
    colours = paint(values[shape.wood_branch[far_first]])
    wood.set(facecolor=colours, edgecolor=colours, linewidth=0.5, zorder=3)
    axes.add_collection(wood)
    artists: dict[str, Any] = {"wood": wood}
    if len(shape.leaf_branch):
        far_first = leaf_order(shape, camera)
        foliage = PolyCollection(list(leaf_polygons(tree, shape, camera, rotation)[far_first]))
        colours = paint(values[np.repeat(shape.leaf_branch, LEAVES_A_BUNDLE)[far_first]])
        foliage.set(facecolor=colours, edgecolor="white", linewidth=0.15, alpha=0.6, zorder=4)
        axes.add_collection(foliage)
        artists["leaves"] = foliage
    return artists | key(artists)


def _painter(axes: Axes, values: NDArray[Any], label: str) -> tuple[Any, Any]:
    """How values become colours, and what explains them: a legend or a colour bar."""
    import matplotlib as mpl
    from matplotlib.patches import Patch

    if label in ("kind", "clamped"):
        if label == "kind":
            table = np.array([_WOOD_DARK, "#9a7b5f", COLOURS["foliage"]])
            names: Sequence[str] = KIND_NAMES
        else:
            table = np.array([COLOURS["branch"], "#E69F00"])
            names = ("as set", "clamped")
        index = values.astype(int)

        def legend(_: Any) -> dict[str, Any]:
            counts = np.bincount(index, minlength=len(names))
            handles = [
                Patch(color=colour, label=f"{name} ({count})")
                for colour, name, count in zip(table, names, counts, strict=True)
                if count
            ]
            return {"legend": axes.legend(handles=handles, loc="lower left", handlelength=1.0)}

        return (lambda v: table[v.astype(int)]), legend

    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    logarithmic = label == _LABELS["frequency"] and low > 0 and high > 5 * low
    kind = mpl.colors.LogNorm if logarithmic else mpl.colors.Normalize
    norm = kind(low, high if high > low else low + 1e-9 + abs(low) * 1e-6)
    mappable = mpl.cm.ScalarMappable(norm, "viridis")

    def bar(_: Any) -> dict[str, Any]:
        explained = axes.figure.colorbar(mappable, ax=axes, label=label, shrink=0.7)
        if logarithmic:
            plain_log(explained.ax.yaxis)
        return {"colorbar": explained}

    return (lambda v: mappable.to_rgba(v)), bar


def _frame_axes(axes: Axes, artists: dict[str, Any], camera: Camera) -> None:
    axes.set_aspect("equal", adjustable="box")
    axes.autoscale_view()
    axes.margins(0.04)
    left, right = axes.get_xlim()
    low, high = axes.get_ylim()
    wanted = 0.8 * (high - low)  # a slender tree keeps room for its key
    if right - left < wanted:
        middle = (left + right) / 2
        axes.set_xlim(middle - wanted / 2, middle + wanted / 2)
    axes.axhline(0.0, color=FAINT, linewidth=0.8, zorder=0)
    across = "x" if camera.azimuth == 0 else f"at {np.degrees(camera.azimuth):g}° from x"
    axes.set_xlabel(f"{across} (m)", color=INK)
    axes.set_ylabel("height z (m)", color=INK)
    axes.tick_params(colors=QUIET)


def _title(tree: Tree, time: float, rotation: Any, exaggerate: float) -> str:
    if rotation is None:
        return f"{tree.name}, at rest"
    sway = degrees(float(np.linalg.norm(rotation[tree.roots[0]])))
    text = f"{tree.name} at {time:.1f} s: trunk {sway:.1f}° from rest"
    return text if exaggerate == 1 else f"{text}, drawn ×{exaggerate:g}"
