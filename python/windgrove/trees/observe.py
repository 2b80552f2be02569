"""What a careful person would notice in a table of cylinders; nothing here changes anything."""

from __future__ import annotations

import numpy as np

from .cylinders import Cylinders, Notes

TINY = 1e-3  # m: a cylinder this short is an artefact of fitting, and l^2 stands under k
TALL = 130.0  # m: no tree is higher, so a taller one is in other units
SHARED = 0.2  # share of radii with one value above which they look like a lower bound


def observe(table: Cylinders, notes: Notes) -> None:
    """Add what stands out to the notes."""
    _tiny(table, notes)
    _lengths(table, notes)
    _volumes(table, notes)
    _shared_radius(table, notes)
    _joints(table, notes)
    extent = float(np.ptp(np.concatenate([table.start[:, 2], table.end[:, 2]])))
    if extent > TALL:
        notes.noticed("tall", f"{extent:.4g} m high: units may not be metres (units= sets them)")


def _tiny(table: Cylinders, notes: Notes) -> None:
    point = (table.parent < 0) & (table.length == 0)  # a base from which several stems rise
    tiny = (table.length < TINY) & ~point
    if tiny.any():
        shortest = table.length[tiny].min()
        notes.noticed(
            "tiny-length",
            f"{tiny.sum()} cylinder(s) shorter than 1 mm, the shortest {shortest:.3g} m: summed "
            "into their branches",
            table.row[tiny],
        )
    flat = (table.radius == 0) & ~point
    if flat.any():
        notes.noticed(
            "zero-radius", f"{flat.sum()} cylinder(s) of radius 0 add no volume", table.row[flat]
        )


def _lengths(table: Cylinders, notes: Notes) -> None:
    distance = np.linalg.norm(table.end - table.start, axis=1)
    gap = np.abs(distance - table.length)
    off = gap > 1e-3 + 1e-3 * table.length
    if off.any():
        notes.noticed(
            "length-contradicts-ends",
            f"{off.sum()} length(s) differ from the end points, by up to {gap.max():.3g} m: the "
            "length column counts",
            table.row[off],
        )


def _volumes(table: Cylinders, notes: Notes) -> None:
    if table.volume is None:
        return
    own = np.pi * table.radius**2 * table.length
    given = table.volume
    comparable = np.isfinite(given) & (own > 0)
    if not comparable.any() or not given[comparable].any():
        return
    ratio = float(np.median(given[comparable] / own[comparable]))
    if abs(ratio - 1000) < 50:
        notes.noticed("litres", "the volume column is in litres: pi r^2 l counts")
        given = given / 1000
    off = comparable & (np.abs(given - own) > 1e-3 * own + 1e-6)
    if off.any():
        notes.noticed(
            "volume-contradicts-cylinder",
            f"{off.sum()} volume(s) differ from pi r^2 l (sums {given[comparable].sum():.6g} and "
            f"{own[comparable].sum():.6g} m3): pi r^2 l counts",
            table.row[off],
        )


def _shared_radius(table: Cylinders, notes: Notes) -> None:
    values, counts = np.unique(table.radius[table.radius > 0], return_counts=True)
    if len(table) < 20 or not len(values):
        return
    share = counts.max() / len(table)
    if share > SHARED:
        notes.noticed(
            "shared-radius",
            f"{100 * share:.0f} % of the radii are {values[counts.argmax()]:.4g} m: a lower bound "
            "or a guess rather than measured",
        )


def _joints(table: Cylinders, notes: Notes) -> None:
    child = np.flatnonzero(table.parent >= 0)
    parent = table.parent[child]
    gap = np.linalg.norm(table.start[child] - table.end[parent], axis=1)
    apart = gap > 0.01
    if apart.any():
        notes.noticed(
            "gaps",
            f"{apart.sum()} cylinder(s) start more than 1 cm from their parent's end, by up to "
            f"{gap.max():.3g} m",
            table.row[child[apart]],
        )
    thicker = table.radius[child] > table.radius[parent]
    if thicker.any():
        notes.noticed(
            "thicker-than-parent",
            f"{thicker.sum()} cylinder(s) are thicker than their parent",
            table.row[child[thicker]],
        )
