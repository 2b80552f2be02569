"""The same bits from a whole run for every number of threads and every instruction set."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import windgrove as wg
from windgrove import _kernels
from windgrove.wind.cascade import Wind
from windgrove.wind.inflow import Turbulence

PROJECTIONS = {
    "source": "source",
    "warm": {"method": "jacobi", "warm_start": True},
    "sor": {"method": "sor"},
    "multigrid": {"method": "multigrid", "tolerance": 1e-3, "iterations": 20},
    "quality": "quality",
    "pcg": {"method": "pcg", "warm_start": True},
    "direct": {"method": "direct"},
    "compact direct": {"method": "direct", "discretisation": "compact"},
}


def run(threads, projection, advection, levels=3):
    """Eight steps among solids at rest and in motion, with forces, an air source, a profile and a
    focus that moves to and fro; 22 cells a row, so that no row is a whole number of vectors."""
    solids = (
        wg.Box((-2, -3, -1), (1.2, -1, 2)),
        wg.Sphere((2.5, 1.5, 1), 0.8, velocity=(0, -1, 0)),
        wg.Terrain(np.random.default_rng(2).uniform(-1, 0.8, (9, 9)), origin=(-8, -8), spacing=2),
    )
    wind = Wind(
        (6, 1, 0),
        cells=(22, 16, 12),
        levels=levels,
        threads=threads,
        projection=projection,
        advection=advection,
        turbulence=Turbulence(strength=0.3, scale=3.0),
        profile="log",
        ground=-3.0,
        solids=() if "direct" in str(projection) else solids,
        effectors=(
            wg.Vortex(position=(1, 1, 1), radius=2, acceleration=30),
            wg.LinearForce(position=(0, 2, 0), velocity=(9, -4, 2), radius=1, acceleration=60),
            wg.Blast(position=(-3, 2, 1), radius=1.0, speed=4.0),
        ),
        seed=5,
    )
    for number in range(8):
        wind.step(focus=(0.7 * number, -0.4 * number, 1.0) if number % 3 else None)
    return wind.state()


def assert_same(state, expected):
    for seen, wanted in zip(
        (*state.velocity, *state.pressure), (*expected.velocity, *expected.pressure), strict=True
    ):
        assert_array_equal(seen.view(np.uint32), wanted.view(np.uint32))


@pytest.mark.parametrize("advection", ["semi_lagrangian", "maccormack"])
@pytest.mark.parametrize("name", PROJECTIONS)
def test_a_run_has_the_same_bits_for_all_threads_and_instruction_sets(
    instruction_sets, name, advection
):
    """Equal, signs of zeros included: no bound is needed, as no kernel gives up equal bits."""
    expected = run(1, PROJECTIONS[name], advection)
    assert all(np.isfinite(v).all() for v in expected.velocity)
    for isa in instruction_sets:
        _kernels.force_isa(isa)
        for threads in (1, 2, 3, 5):
            assert_same(run(threads, PROJECTIONS[name], advection), expected)


@pytest.mark.parametrize("levels", [1, 2, 4, 5])
def test_the_bits_do_not_depend_on_how_grids_are_dealt_to_threads(levels):
    expected = run(1, "source", "maccormack", levels)
    for threads in (2, 3, 4):
        assert_same(run(threads, "source", "maccormack", levels), expected)
