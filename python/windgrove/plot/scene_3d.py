"""The tree in three dimensions through PyVista, an extra: ``pip install ".[view3d]"``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import flag
from ..trees.tree import Tree
from .drawing import branch_values, posed_frame
from .shape import Shape, pose, shape_of

if TYPE_CHECKING:
    import xarray as xr

SIDES = 8  # of a cylinder


def view3d(
    tree: Tree,
    ds: xr.Dataset | None = None,
    *,
    frame: int | None = None,
    instance: int = 0,
    colour: str | ArrayLike = "kind",
    species: Any = None,
    dt: float = 1 / 30,
    exaggerate: float = 1.0,
    plotter: Any = None,
    off_screen: bool = False,
) -> Any:
    """Put a tree, at rest or at one frame of a recording, into a PyVista plotter.

    Parameters
    ----------
    tree, ds, frame, instance, colour, species, dt, exaggerate
        As for `plot.tree`.
    plotter : pyvista.Plotter, optional
        Where the tree goes; by default a new one.
    off_screen : bool, default False
        For a new plotter: no window; ``plotter.screenshot(path)`` then works without a display.

    Returns
    -------
    pyvista.Plotter
        ``.show()`` opens it, ``.screenshot(path)`` writes a picture, ``.export_html(path)`` a page.

    Raises
    ------
    ImportError
        PyVista is not installed.
    """
    off_screen = flag(off_screen, "off_screen")
    try:
        import pyvista
    except ImportError:
        raise ImportError(
            "view3d needs PyVista: pip install pyvista, or in the checkout pip install '.[view3d]'"
        ) from None
    rotation, _ = posed_frame(tree, ds, frame, instance)
    values, label = branch_values(tree, ds, colour, species, dt, rotation)
    turned = None if rotation is None else rotation * exaggerate
    points, faces, branch = tree_mesh(tree, turned)
    mesh = pyvista.PolyData(points, faces=_with_counts(faces))
    mesh.cell_data[label or "value"] = np.asarray(values)[branch].astype(np.float64)
    if plotter is None:
        plotter = pyvista.Plotter(off_screen=off_screen)
    kinds = ["#5b4636", "#9a7b5f", "#009E73"]
    paint: dict[str, Any] = {"cmap": "viridis"}
    if label == "kind":
        paint = {"cmap": kinds, "clim": (-0.5, 2.5), "show_scalar_bar": False}
    plotter.add_mesh(mesh, scalars=label or "value", **paint)
    plotter.camera_position = "xz"
    plotter.show_bounds(xtitle="x (m)", ytitle="y (m)", ztitle="z (m)")
    return plotter


def tree_mesh(
    tree: Tree, rotation: NDArray[np.floating] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.intp]]:
    """Prisms for wood and rectangles for leaves, posed.

    Parameters
    ----------
    tree : Tree
    rotation : (n, 3), optional
        Rotation vectors, rad.

    Returns
    -------
    points : (p, 3) m
    faces : (f, 4)
        Quadrilaterals of point indices.
    branch : (f,)
        Branch of each face.
    """
    shape = shape_of(tree)
    wood, wood_faces, wood_branch = _prisms(tree, shape, rotation)
    leaf, leaf_faces, leaf_branch = _rectangles(tree, shape, rotation)
    return (
        np.concatenate([wood, leaf]),
        np.concatenate([wood_faces, leaf_faces + len(wood)]),
        np.concatenate([wood_branch, leaf_branch]),
    )


def _across(along: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two unit vectors across each direction."""
    size = np.linalg.norm(along, axis=1, keepdims=True)
    unit = np.where(size > 0, along / np.where(size > 0, size, 1.0), [0.0, 0.0, 1.0])
    helper = np.where(np.abs(unit[:, 2:]) < 0.9, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    first = np.cross(unit, helper)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(unit, first)


def _prisms(tree: Tree, shape: Shape, rotation: Any) -> tuple[Any, Any, Any]:
    start = pose(tree, rotation, shape.wood_start, shape.wood_branch)
    end = pose(tree, rotation, shape.wood_end, shape.wood_branch)
    first, second = _across(end - start)
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = (
        first[:, None] * np.cos(angle)[:, None] + second[:, None] * np.sin(angle)[:, None]
    ) * shape.wood_radius[:, None, None]
    points = np.stack([start[:, None] + ring, end[:, None] + ring], axis=1).reshape(-1, 3)
    i = np.arange(SIDES)
    side = np.stack([i, (i + 1) % SIDES, (i + 1) % SIDES + SIDES, i + SIDES], axis=1)
    faces = (np.arange(len(start))[:, None, None] * 2 * SIDES + side).reshape(-1, 4)
    return points, faces, np.repeat(shape.wood_branch, SIDES)


def _rectangles(tree: Tree, shape: Shape, rotation: Any) -> tuple[Any, Any, Any]:
    start = pose(tree, rotation, shape.leaf_start, shape.leaf_branch)
    end = pose(tree, rotation, shape.leaf_end, shape.leaf_branch)
    side = _across(end - start)[0] * shape.leaf_half_width[:, None]
    points = np.stack([start + side, end + side, end - side, start - side], axis=1).reshape(-1, 3)
    return points, np.arange(len(points)).reshape(-1, 4), shape.leaf_branch


def _with_counts(faces: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.full((len(faces), 1), 4), faces], axis=1).ravel()
