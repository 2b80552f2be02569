"""How the plots look: one style at two sizes, entered as a context and left again."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from ..checks import choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZES = ("notebook", "paper")
PAPER_WIDTH = 5.0  # inches; a figure below it is drawn in the paper's sizes
# Okabe and Ito's palette, told apart by every common kind of colour vision (docs/references.bib).
COLOURS = {"trunk": "#D55E00", "branch": "#0072B2", "foliage": "#009E73"}
MARKERS = {"trunk": "D", "branch": "o", "foliage": "^"}
INK, QUIET, FAINT = "#222222", "#6b6b6b", "#bdbdbd"
CLAMPED = "#CC79A7"

_active: ContextVar[str | None] = ContextVar("windgrove_plot_style", default=None)
_for_files: ContextVar[bool] = ContextVar("windgrove_plot_for_files", default=False)
_P = ParamSpec("_P")


@dataclass(frozen=True)
class Drawing:
    """What a plot drew: its axes and its artists by name.

    ``drawing["set"]`` is the artist; iterating gives all of them; ``axes`` is the tuple of axes and
    ``figure`` their figure.
    """

    axes: tuple[Axes, ...]
    artists: Mapping[str, Any]

    @property
    def figure(self) -> Figure:
        """The whole figure the axes lie in, also where they lie in a part of it."""
        return root_figure(self.axes[0])

    @property
    def ax(self) -> Axes:
        """The first, often the only axes."""
        return self.axes[0]

    def __getitem__(self, name: str) -> Any:
        return self.artists[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.artists.values())

    def __len__(self) -> int:
        return len(self.artists)

    def __repr__(self) -> str:
        return f"<Drawing of {', '.join(self.artists)} on {len(self.axes)} axes>"


def root_figure(ax: Axes) -> Figure:
    """The figure, not the subfigure, that axes lie in."""
    part: Any = ax.get_figure()
    return part.figure


@contextmanager
def style(size: str = "notebook") -> Iterator[None]:
    """Draw in windgrove's style inside a ``with`` block; after it, its rcParams are as before.

    Parameters
    ----------
    size : {"notebook", "paper"}
        Screen size, or the width of one column of a paper. Outside such a block a plot takes
        "paper" on axes whose figure is narrower than 5 inches, else "notebook".

    Notes
    -----
    Only the settings of the style itself are set and put back. matplotlib's own contexts put back
    all of them, and with them what a notebook's backend sets when it first loads in the block:
    no later picture of that notebook would be shown.
    """
    import matplotlib

    name = choice(size, "size", SIZES)
    settings = _sheet(name)
    current: Any = matplotlib.rcParams
    before = {key: current[key] for key in settings}
    token = _active.set(name)
    try:
        current.update(settings)
        yield
    finally:
        current.update(before)
        _active.reset(token)


@functools.cache
def _sheet(name: str) -> dict[str, Any]:
    """The settings of a style, as matplotlib reads them from its file."""
    import matplotlib

    sheet = resources.files(__package__) / f"{name}.mplstyle"
    with resources.as_file(sheet) as path:
        read: Any = matplotlib.rc_params_from_file(str(path), use_default_template=False)
        return dict(read)


@contextmanager
def without_display() -> Iterator[None]:
    """Inside this block new figures belong to no window and no notebook: they are for files.

    It needs no backend and changes none, so that it leaves a notebook's pictures alone.
    """
    token = _for_files.set(True)
    try:
        yield
    finally:
        _for_files.reset(token)


def new_figure(figsize: tuple[float, float] | None = None, dpi: float | None = None) -> Figure:
    """A figure of pyplot's, or one for a file only inside `without_display`."""
    if _for_files.get():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=figsize, dpi=dpi)
        FigureCanvasAgg(figure)
        return figure
    import matplotlib.pyplot as plt

    return plt.figure(figsize=figsize, dpi=dpi)


def styled(function: Callable[_P, Drawing]) -> Callable[_P, Drawing]:
    """Run a plotting function inside the style that suits its axes."""

    @functools.wraps(function)
    def inner(*args: _P.args, **kwargs: _P.kwargs) -> Drawing:
        if _active.get() is not None:
            return function(*args, **kwargs)
        given = kwargs.get("ax")
        first: Any = given if hasattr(given, "get_figure") else _first(given)
        narrow = hasattr(first, "get_figure") and root_figure(first).get_figwidth() < PAPER_WIDTH
        with style("paper" if narrow else "notebook"):
            return function(*args, **kwargs)

    return inner


def _first(axes: Any) -> Any:
    if axes is None or isinstance(axes, str):
        return None
    flat = np.asarray(axes, dtype=object).ravel()
    return flat[0] if flat.size else None


def one(ax: Any, *, figsize: tuple[float, float] | None = None) -> Axes:
    """`ax`, or the axes of a new figure."""
    if ax is None:
        ax = new_figure(figsize).subplots()
    elif not hasattr(ax, "get_figure") or not hasattr(ax, "plot"):
        raise TypeError(f"ax: expected matplotlib axes, got {type(ax).__name__}")
    return dress(ax)


def many(
    ax: Any,
    rows: int,
    columns: int,
    *,
    share: bool = True,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """An (rows, columns) array of axes: `ax` reshaped, or those of a new figure."""
    if ax is None:
        import matplotlib

        width, height = matplotlib.rcParams["figure.figsize"]
        size = (max(width, 0.42 * width * columns), max(height, 0.48 * height * rows))
        sharing: dict[str, Any] = {"sharex": "col", "sharey": "row"} if share else {}
        ax = new_figure(figsize or size).subplots(rows, columns, squeeze=False, **sharing)
    grid = np.asarray(ax, dtype=object)
    if grid.size != rows * columns:
        raise ValueError(f"ax: expected {rows} x {columns} axes, got {grid.size}")
    for each in grid.ravel():
        if not hasattr(each, "plot"):
            raise TypeError(f"ax: expected matplotlib axes, got {type(each).__name__}")
        dress(each)
    return grid.reshape(rows, columns)


def dress(ax: Axes) -> Axes:
    """Give axes made elsewhere the same open frame."""
    if ax.name == "rectilinear":
        ax.spines[["top", "right"]].set_visible(False)
    return ax


def quiet_grid(ax: Axes) -> None:
    """A light grid behind the data."""
    ax.grid(True, which="major", color="#e3e3e3", linewidth=0.6)
    ax.set_axisbelow(True)


def plain_log(axis: Any) -> None:
    """Label a logarithmic axis 0.1, 0.2, 0.5, 1 instead of with powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    few = high > 200 * max(low, 1e-300)
    axis.set_major_locator(LogLocator(subs=(1.0,) if few else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
