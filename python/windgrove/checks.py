"""Argument checks shared by the whole package: convert what can be used, name what cannot."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

MAX_THREADS = 64
SMALLEST_CELL, LARGEST_CELL = 1e-9, 1e9  # m
LARGEST_STEP = 1e30  # s for each m of a cell


def array(
    value: ArrayLike,
    name: str,
    *,
    dtype: DTypeLike = np.float32,
    shape: Sequence[int | None] | None = None,
    finite: bool = False,
    ndmin: int = 0,
) -> NDArray[Any]:
    """`value` as an aligned, C-ordered array of `dtype`; a copy only where one is needed.

    `shape` holds sizes, None for any size; `ndmin` puts axes of length 1 in front. Strided,
    read-only, float64 and list inputs are converted. Complex, object and text inputs raise
    TypeError, and so do booleans in place of integers; a wrong shape, and an array with masked
    values, ValueError.
    """
    if type(value) is np.ndarray and not finite and _is_ready(value, dtype, shape, ndmin):
        return value.view()
    if np.ma.is_masked(value):
        raise ValueError(f"{name}: holds masked values; fill them or leave them out")
    try:
        given = np.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name}: cannot be read as an array ({error})") from None
    # NumPy 1 has no copy=None beside ndmin=.
    given = given.reshape((1,) * (ndmin - given.ndim) + given.shape)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"{name}: expected numbers, got dtype {given.dtype}")
    wanted = np.dtype(dtype)
    if wanted.kind in "iu" and given.dtype.kind == "b":
        raise TypeError(f"{name}: expected integers, got True or False")
    if wanted.kind in "iu" and given.dtype.kind == "f" and given.size and not _integral(given):
        raise TypeError(f"{name}: expected integers, got dtype {given.dtype}")
    if wanted.kind in "iu" and given.size:
        limits = np.iinfo(wanted)
        if given.min() < limits.min or given.max() > limits.max:
            raise ValueError(f"{name}: expected integers from {limits.min} to {limits.max}")
    if shape is not None and not _fits(given.shape, shape):
        raise ValueError(f"{name}: expected shape {_shape_text(shape)}, got {given.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        result = np.require(given, dtype=wanted, requirements=["C", "A"])
    if result.dtype.byteorder not in "=|":
        result = result.astype(result.dtype.newbyteorder("="))
    if finite and not np.isfinite(result).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(result))[0])
        raise ValueError(f"{name}: not finite at index {where if len(where) != 1 else where[0]}")
    return result


def _is_ready(
    value: NDArray[Any], dtype: DTypeLike, shape: Sequence[int | None] | None, ndmin: int
) -> bool:
    """Whether there is nothing to convert, as in most calls of a kernel in a loop."""
    if value.dtype != dtype or value.ndim < ndmin:
        return False
    flags = value.flags
    return flags.c_contiguous and flags.aligned and (shape is None or _fits(value.shape, shape))


def _integral(values: NDArray[Any]) -> bool:
    return bool(np.isfinite(values).all() and (values == np.floor(values)).all())


def _fits(got: tuple[int, ...], wanted: Sequence[int | None]) -> bool:
    return len(got) == len(wanted) and all(
        w is None or g == w for g, w in zip(got, wanted, strict=True)
    )


def _shape_text(shape: Sequence[int | None]) -> str:
    sizes = ["any" if size is None else str(size) for size in shape]
    return "(" + ", ".join(sizes) + ("," if len(sizes) == 1 else "") + ")"


def output(
    value: Any, name: str, shape: Sequence[int], *, dtype: DTypeLike = np.float32
) -> NDArray[Any]:
    """An array the caller gave to be written: it must fit exactly, nothing is converted."""
    wanted = np.dtype(dtype)
    if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name}: expected a NumPy array of {wanted}, got {type(value).__name__}")
    if value.dtype != wanted or not value.dtype.isnative:
        raise TypeError(f"{name}: expected dtype {wanted}, got {value.dtype}")
    if value.shape != tuple(shape):
        raise ValueError(f"{name}: expected shape {tuple(shape)}, got {value.shape}")
    if not (value.flags.c_contiguous and value.flags.aligned):
        raise ValueError(f"{name}: expected an aligned, C-ordered array")
    if not value.flags.writeable:
        raise ValueError(f"{name}: the array is read-only and would be written")
    return value


def number(
    value: Any,
    name: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    above: float | None = None,
) -> float:
    """A finite float in [low, high], or strictly above `above`; bools are refused."""
    if isinstance(value, (str, bytes, bool, np.bool_)) or value is None:
        raise TypeError(f"{name}: expected a number, got {value!r}")
    try:
        # float() of an array of one element works, with a warning, in some versions of NumPy.
        result = float(value) if type(value) is float or np.ndim(value) == 0 else None
    except (TypeError, ValueError):
        result = None
    except OverflowError:
        raise ValueError(f"{name}: expected a finite number, got one beyond 1e308") from None
    if result is None:
        raise TypeError(f"{name}: expected a number, got {value!r}")
    if not math.isfinite(result):
        raise ValueError(f"{name}: expected a finite number, got {result}")
    if above is not None and not result > above:
        raise ValueError(f"{name}: expected a number above {above:g}, got {result:g}")
    if not low <= result <= high:
        raise ValueError(f"{name}: expected a number from {low:g} to {high:g}, got {result:g}")
    return result


def integer(value: Any, name: str, *, low: int = -(2**63), high: int = 2**63 - 1) -> int:
    """An int in [low, high]; bools and floats are refused."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected an integer, got {value!r}")
    try:
        result = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {value!r}") from None
    if not low <= result <= high:
        raise ValueError(f"{name}: expected an integer from {low} to {high}, got {result}")
    return result


def counts(value: Any, name: str, labels: str, *, low: int, high: int) -> tuple[int, ...]:
    """As many integers as there are words in `labels`, each in [low, high]; none may be a bool."""
    wanted = labels.split()
    given = items(value, name)
    if len(given) != len(wanted):
        raise ValueError(f"{name}: expected ({', '.join(wanted)}), got {value!r}")
    return tuple(integer(n, name, low=low, high=high) for n in given)


def path(value: Any, name: str) -> Path:
    """A path as `pathlib.Path`; bytes are decoded."""
    try:
        text = os.fsdecode(value)
    except TypeError:
        raise TypeError(f"{name}: expected a path, got {type(value).__name__}") from None
    if "\0" in text:
        raise ValueError(f"{name}: a path holds no NUL character, got {text!r}")
    return Path(text)


def items(value: Any, name: str) -> tuple[Any, ...]:
    """What an iterable of objects holds."""
    try:
        return tuple(value)
    except TypeError:
        raise TypeError(f"{name}: expected a sequence, got {type(value).__name__}") from None


def mapping(value: Any, name: str) -> dict[Any, Any]:
    """A mapping as a dict; None is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{name}: expected a mapping, got {type(value).__name__}")
    return dict(value)


def flag(value: Any, name: str) -> bool:
    """True or False, NumPy's too, or 1 or 0; not whatever has a truth."""
    fits = isinstance(value, (bool, np.bool_))
    fits = fits or (isinstance(value, (int, np.integer)) and value in (0, 1))
    if not fits:
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def optional_flag(value: Any, name: str) -> bool | None:
    """A flag, or None."""
    return None if value is None else flag(value, name)


def word(value: Any, name: str) -> str:
    """Any text."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a text, got {value!r}")
    return value


def instance(value: Any, name: str, kind: type) -> None:
    """Refuse what is not of a class of this package."""
    if not isinstance(value, kind):
        raise TypeError(f"{name}: expected a {kind.__name__}, got {type(value).__name__}")


def tree(value: Any, name: str = "tree") -> None:
    """Refuse what is not a `windgrove.Tree`."""
    from .trees.tree import Tree  # it stands on this module

    instance(value, name, Tree)


def spacing(value: Any, name: str = "spacing") -> float:
    """Edge of a cell in m: what float32 holds the square of, both ways."""
    return number(value, name, above=0.0, low=SMALLEST_CELL, high=LARGEST_CELL)


def time_step(value: Any, spacing: float, name: str = "dt") -> float:
    """A time step in s for cells of `spacing` m: velocities to 1e8 m/s stay within float32."""
    step = number(value, name, above=0.0)
    if not step / spacing <= LARGEST_STEP:
        raise ValueError(
            f"{name}: expected at most {LARGEST_STEP:g} spacing ({LARGEST_STEP * spacing:g} s), "
            f"got {step:g}"
        )
    return step


def threads(value: Any) -> int:
    """The `threads` argument: 1 to 64."""
    return integer(value, "threads", low=1, high=MAX_THREADS)


def choice(value: Any, name: str, allowed: Iterable[str]) -> str:
    """One of a few words."""
    words = list(allowed)
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name}: expected one of {', '.join(words)}; got {value!r}")
    return str(value)


def vector(value: ArrayLike, name: str, *, size: int = 3) -> NDArray[np.float64]:
    """A finite double-precision vector."""
    return array(value, name, dtype=np.float64, shape=(size,), finite=True)
