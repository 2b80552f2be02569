"""Moving pictures of a recording: GIF through Pillow, HTML for notebooks, no extra programs."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import number
from ..checks import path as checked_path
from ..trees.tree import Tree
from .data import degrees, rate, recorded_rotation
from .drawing import leaf_order, leaf_polygons, wood_polygons
from .drawing import tree as draw_tree
from .shape import Camera, pose, shape_of
from .styles import Drawing, without_display

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".gif", ".html")


class TreeAnimation:
    """A recording as a moving picture; a notebook shows it, `save` writes it.

    Attributes
    ----------
    frames : tuple of int
        Frames of the recording that are shown.
    fps : float
        Pictures a second.
    path : pathlib.Path or None
        Where it was written last.
    """

    def __init__(self, film: _Film, frames: tuple[int, ...], fps: float) -> None:
        self._film = film
        self.frames = frames
        self.fps = fps
        self.path: Path | None = None

    def __repr__(self) -> str:
        return f"<TreeAnimation of {len(self.frames)} pictures, {self.fps:.3g} a second>"

    @property
    def figure(self) -> Figure:
        """The figure that is drawn again and again."""
        return self._film.drawing.figure

    def save(self, path: str | Path, *, dpi: float = 75.0) -> Path:
        """Write a .gif (through Pillow) or a .html page that stands alone; returns the path."""
        target = Path(path)
        if target.suffix.lower() not in SUFFIXES:
            raise ValueError(f"path: expected a name ending in .gif or .html, got {target.name!r}")
        if not target.parent.is_dir():
            raise FileNotFoundError(f"path: there is no folder {str(target.parent)!r}")
        if target.suffix.lower() == ".html":
            target.write_text(self.to_html(), encoding="utf-8")
        else:
            target.write_bytes(self._gif(number(dpi, "dpi", low=10, high=1000)))
        self.path = target
        return target

    def to_html(self) -> str:
        """A player with its pictures inside, for a page."""
        from matplotlib.animation import FuncAnimation

        moving = FuncAnimation(
            self.figure, self._film.show, frames=len(self.frames), interval=1000 / self.fps
        )
        return moving.to_jshtml(fps=max(1, round(self.fps)), default_mode="loop")

    def _repr_html_(self) -> str:
        picture = base64.b64encode(self._gif(75.0)).decode()
        return f'<img alt="{self._film.tree.name} swaying" src="data:image/gif;base64,{picture}">'

    def _gif(self, dpi: float) -> bytes:
        from PIL import Image

        pictures = [Image.fromarray(pixels) for pixels in self._film.pictures(dpi)]
        # One palette for all, from pictures across the film: no flicker, and quick.
        some = pictures[:: max(1, len(pictures) // 4)][:4]
        strip = Image.new("RGB", (some[0].width * len(some), some[0].height))
        for place, picture in enumerate(some):
            strip.paste(picture, (place * picture.width, 0))
        palette = strip.quantize(64, method=Image.Quantize.MEDIANCUT)
        flat = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
        out = io.BytesIO()
        flat[0].save(
            out,
            format="GIF",
            save_all=True,
            append_images=flat[1:],
            duration=max(20, round(1000 / self.fps)),
            loop=0,
            optimize=False,
        )
        return out.getvalue()


def animate(
    tree: Tree,
    ds: xr.Dataset,
    path: str | Path | None = None,
    *,
    instance: int = 0,
    start: float | None = None,
    stop: float | None = None,
    fps: float = 15.0,
    speed: float = 1.0,
    colour: str | ArrayLike = "kind",
    species: Any = None,
    azimuth_deg: float = 0.0,
    exaggerate: float = 1.0,
    ax: Axes | None = None,
) -> TreeAnimation:
    """Show a tree moving as it was recorded.

    Parameters
    ----------
    tree : Tree
        The tree that was recorded, all branches.
    ds : xarray.Dataset
        A recording with ``rotation`` (rad).
    path : str or Path, optional
        Write it there: .gif, or .html.
    instance : int, default 0
    start, stop : float, optional
        Part of the recording, s; by default its last 6 s.
    fps : float, default 15
        Pictures a second; at most the recording's rate times `speed`.
    speed : float, default 1
        1 is real time, 0.5 half as fast.
    colour, species, azimuth_deg, exaggerate, ax
        As for `plot.tree`; "sway" is coloured by the first picture's scale.

    Returns
    -------
    TreeAnimation
        Shows itself in a notebook; ``save(path)`` writes it.
    """
    rotation = recorded_rotation(ds, instance=instance)
    target = None if path is None else checked_path(path, "path")
    frames = _frames(ds, start, stop, number(fps, "fps", above=0), number(speed, "speed", above=0))
    first = int(frames[0])
    # A notebook shows the film, and not its first picture once more.
    with without_display():
        drawing = draw_tree(
            tree,
            ds,
            frame=first,
            instance=instance,
            colour=colour,
            species=species,
            azimuth_deg=azimuth_deg,
            exaggerate=exaggerate,
            ax=ax,
        )
    turned = rotation.isel(time=frames).to_numpy().astype(np.float64)
    times = rotation["time"].to_numpy()[frames].astype(np.float64)
    camera = Camera(np.radians(azimuth_deg))
    film = _Film(tree, turned, times, exaggerate, camera, drawing)
    film.hold_limits()
    _settle(drawing.figure)
    span = float(times[-1] - times[0])
    shown_fps = (len(frames) - 1) / span * speed if span > 0 else fps
    result = TreeAnimation(film, tuple(int(i) for i in frames), shown_fps)
    if target is not None:
        result.save(target)
    return result


def _settle(figure: Any) -> None:
    """Lay the figure out once; doing it again for every picture takes most of the time."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _frames(
    ds: xr.Dataset, start: float | None, stop: float | None, fps: float, speed: float
) -> NDArray[np.intp]:
    time = ds["time"].to_numpy().astype(np.float64)
    if not len(time):
        raise ValueError("ds: has no frame")
    stop = float(time[-1]) if stop is None else number(stop, "stop")
    start = max(float(time[0]), stop - 6.0) if start is None else number(start, "start")
    inside = np.flatnonzero((time >= start - 1e-9) & (time <= stop + 1e-9))
    if not inside.size:
        raise ValueError(f"start, stop: no frame from {start:g} to {stop:g} s")
    if inside.size == 1:
        return inside
    stride = max(1, round(rate(ds) * speed / fps))
    return inside[::stride]


class _Film:
    """The polygons of one drawing, moved from frame to frame."""

    def __init__(
        self,
        tree: Tree,
        rotation: NDArray[np.float64],
        times: NDArray[np.float64],
        exaggerate: float,
        camera: Camera,
        drawing: Drawing,
    ) -> None:
        self.tree, self.rotation, self.times = tree, rotation, times
        self.exaggerate, self.camera, self.drawing = exaggerate, camera, drawing
        self.shape = shape_of(tree)
        self.wood_order = np.argsort(-camera.depth(self.shape.wood_start), kind="stable")
        self.leaf_order = leaf_order(self.shape, camera)

    def hold_limits(self) -> None:
        """Fix the view to what the tips reach, so that the picture does not breathe."""
        tips = np.concatenate([self.tree.tip, self.tree.position])
        branch = np.tile(np.arange(len(self.tree)), 2)
        seen = [self.camera.flat(tips)]
        for index in np.linspace(0, len(self.rotation) - 1, min(8, len(self.rotation))).astype(int):
            posed = pose(self.tree, self.rotation[index] * self.exaggerate, tips, branch)
            seen.append(self.camera.flat(posed))
        points = np.concatenate(seen)
        low, high = points.min(axis=0), points.max(axis=0)
        margin = 0.05 * max(high - low)
        axes = self.drawing.ax
        axes.set_ylim(min(low[1], 0.0) - margin, high[1] + margin)
        middle, height = (low[0] + high[0]) / 2, np.ptp(axes.get_ylim())
        reach = max((high[0] - low[0]) / 2 + margin, 0.4 * float(height))
        axes.set_xlim(middle - reach, middle + reach)

    def show(self, index: int) -> list[Any]:
        rotation = self.rotation[index] * self.exaggerate
        wood = wood_polygons(self.tree, self.shape, self.camera, rotation)
        self.drawing["wood"].set_verts(wood[self.wood_order])
        moved = [self.drawing["wood"], self.drawing["title"]]
        if "leaves" in self.drawing.artists:
            leaf = leaf_polygons(self.tree, self.shape, self.camera, rotation)
            self.drawing["leaves"].set_verts(leaf[self.leaf_order])
            moved.append(self.drawing["leaves"])
        root = self.tree.roots[0]
        sway = degrees(float(np.linalg.norm(self.rotation[index][root])))
        text = f"{self.tree.name} at {self.times[index]:.1f} s: trunk {sway:.1f}° from rest"
        if self.exaggerate != 1:
            text += f", drawn ×{self.exaggerate:g}"
        self.drawing["title"].set_text(text)
        return moved

    def pictures(self, dpi: float) -> Iterator[NDArray[np.uint8]]:
        """(height, width, 3) for each frame; what does not move is drawn once."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        figure = self.drawing.figure
        canvas_before, dpi_before = figure.canvas, figure.dpi
        canvas = FigureCanvasAgg(figure)
        figure.dpi = dpi
        moving = self.show(0)
        try:
            for artist in moving:
                artist.set_animated(True)
            canvas.draw()
            still = canvas.copy_from_bbox(figure.bbox)
            for index in range(len(self.times)):
                canvas.restore_region(still)
                for artist in sorted(self.show(index), key=lambda a: a.get_zorder()):
                    self.drawing.ax.draw_artist(artist)
                yield np.asarray(canvas.buffer_rgba())[..., :3].copy()
        finally:
            for artist in moving:
                artist.set_animated(False)
            figure.dpi = dpi_before
            figure.set_canvas(canvas_before)
