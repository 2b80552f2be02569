"""The divergence that a projection leaves, by scale."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import windgrove as wg
from projection_fields import boxes, field
from windgrove import kernels
from windgrove.wind.residual import divergence_by_scale, rms_by_scale


def test_a_single_mode_lies_in_its_band():
    """sin of wavelength 2 (n+1) / m along x, and likewise along y and z: one mode, rms 8^-1/2 with
    n + 1 for n in each direction."""
    n, m = 23, 6
    wave = np.sin(np.pi * m * np.arange(n + 2) / (n + 1))
    cube = wave[:, None, None] * wave[:, None] * wave
    length = 2 * (n + 1) / m / np.sqrt(3)
    rms = np.sqrt(((n + 1) / (2 * n)) ** 3)
    assert_allclose(rms_by_scale(cube, (1.01 * length, 0.99 * length)), [0, rms, 0], atol=1e-12)


def test_the_bands_add_up_to_the_mean_square():
    values = np.random.default_rng(0).normal(size=(7, 9, 12))
    total = np.sqrt((rms_by_scale(values) ** 2).sum())
    assert_allclose(total, np.sqrt(np.mean(values[1:-1, 1:-1, 1:-1] ** 2)), rtol=1e-12)


@pytest.mark.parametrize("solid", [None, boxes((10, 18, 14))], ids=["open", "boxes"])
@pytest.mark.parametrize("method", ["jacobi", "multigrid", "pcg"])
def test_totals_are_the_divergence_of_the_kernels(method, solid):
    u = field((10, 18, 14))
    consistent = method == "pcg"
    options = {"method": method, "discretisation": "consistent" if consistent else "compact"}
    options["iterations"] = 2  # so that what is left is no rounding
    seen = divergence_by_scale(u, 0.5, solid, **options)
    report = kernels.project_report(u, 0.5, solid, **options)
    left = kernels.divergence(report.velocity, 0.5, solid)[1:-1, 1:-1, 1:-1]
    after = seen["total"].sel(when="after")
    assert_allclose(after.sel(place="cells"), np.sqrt(np.mean(left**2)), rtol=1e-5)
    if consistent:
        assert np.isnan(after.sel(place="faces"))
        return
    # The solver's residual is the share that is left at the faces, null modes apart.
    share = float(after.sel(place="faces") / seen["total"].sel(place="faces", when="before"))
    if report.null_modes == 0:
        assert_allclose(share, report.residual, rtol=1e-3)


@pytest.mark.parametrize("projection", ["source", "quality"])
def test_a_wind_reports_its_next_projection_and_stays_where_it_is(projection):
    wind = wg.Wind(
        (6, 0, 0), cells=(16, 12, 8), levels=2, projection=projection,
        solids=[wg.Box((-1, -1, -1), (1, 1, 1))],
        effectors=[wg.Blast(position=(0, 2, 1), radius=1.0, speed=5.0)],
    )  # fmt: skip
    for _ in range(3):
        wind.step()
    before, seen = wind.state(), wind.residual(bands=(8, 4))
    after = wind.state()
    assert (before.steps, before.drift.tolist()) == (after.steps, after.drift.tolist())
    for level in range(2):
        assert_array_equal(before.velocity[level], after.velocity[level])
    assert seen.sizes == {"level": 2, "place": 2, "when": 2, "band": 3}
    assert seen["divergence"].attrs["units"] == "s-1"
    assert_array_equal(seen["spacing"], [0.5, 1.0])
    place = "faces" if projection == "source" else "cells"
    old, new = (seen["total"].sel(place=place, when=when) for when in ("before", "after"))
    assert (new < 0.3 * old).all()


def test_the_reported_projection_is_that_of_the_next_step():
    """What is left at the cells is the divergence of the velocity that the next step gives."""
    wind = wg.Wind((6, 0, 0), cells=(16, 12, 8), levels=2, solids=[wg.Sphere((0, 0, 1), 1.5)])
    for _ in range(3):
        wind.step()
    seen = wind.residual()["total"].sel(place="cells", when="after")
    wind.step()
    for level in range(2):
        left = kernels.divergence(wind.velocity(level), wind.spacing(level), wind.solid(level))
        rms = np.sqrt(np.mean(left[1:-1, 1:-1, 1:-1].astype(float) ** 2))
        assert_allclose(seen.sel(level=level), rms, rtol=1e-6)


@pytest.mark.parametrize("bands", [(4, 8), (8, 8), (0,), ("a",)])
def test_bad_bands_are_named(bands):
    with pytest.raises((TypeError, ValueError), match="bands"):
        rms_by_scale(np.zeros((4, 4, 4)), bands)
