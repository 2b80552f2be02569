"""Solids in the nested wind: markers, closed faces, motion."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import windgrove as wg
from windgrove.wind.cascade import Wind
from windgrove.wind.solids import Cells, Solid, as_solid

SMALL = {"cells": (16, 12, 8), "levels": 2, "cell_size": 0.5}
CUBE_VERTICES = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
CUBE_FACES = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip


def cube(low, high):
    low, high = np.array(low, float), np.array(high, float)
    return wg.Mesh(low + CUBE_VERTICES * (high - low), CUBE_FACES)


def whole(shape=(8, 8, 8), first=(0, 0, 0)):
    return Cells(first, shape)


def test_a_box_on_cell_faces_fills_exactly_its_cells():
    marked = wg.Box((1, 0.5, 0), (2, 1.5, 1)).mark(whole(), 0.5, 0.0)
    expected = np.zeros((8, 8, 8), bool)
    expected[0:2, 1:3, 2:4] = True
    assert_array_equal(marked, expected)


def test_a_box_marks_every_cell_it_shares_volume_with():
    marked = wg.Box((1.01, 0.5, 0), (1.02, 0.75, 0.25)).mark(whole(), 0.5, 0.0)
    assert np.argwhere(marked).tolist() == [[0, 1, 2]]


def test_a_sphere_has_the_volume_of_a_ball():
    """Cells that share volume: between the ball and the ball grown by a cell's diagonal."""
    marked = wg.Sphere((4, 4, 4), 3).mark(whole((80, 80, 80)), 0.1, 0.0)
    volume, ball = marked.sum() * 0.1**3, 4 / 3 * np.pi * 27
    assert ball < volume < ball * (1 + 0.1 * np.sqrt(3) / 3) ** 3


def test_a_mesh_marks_the_cells_of_the_box_it_is():
    """Off the cell faces the two rules are the same: inside or crossed is shared volume."""
    low, high = (0.6, 0.7, 0.3), (2.3, 1.9, 3.2)
    assert_array_equal(
        cube(low, high).mark(whole((6, 6, 8)), 0.5, 0.0),
        wg.Box(low, high).mark(whole((6, 6, 8)), 0.5, 0.0),
    )


def test_a_mesh_object_is_accepted_as_it_is():
    class Trimesh:
        vertices = CUBE_VERTICES.tolist()
        faces = CUBE_FACES.astype(np.uint32)

    wind = Wind((5, 0, 0), **SMALL, solids=[Trimesh()])
    assert isinstance(wind.solids[0], wg.Mesh)
    assert wind.solid(0).sum() >= 8


def test_terrain_fills_cells_up_to_its_highest_point_and_goes_on_beyond_its_rim():
    """A slope of 1 from x = 1 to 3: under a cell of 0.5 m it is highest at the right edge."""
    ground = wg.Terrain([[0, 2], [0, 2]], origin=(1, 0), spacing=2.0)
    marked = ground.mark(whole((8, 4, 8)), 0.5, 0.0)
    assert_array_equal(marked.sum(axis=0), np.tile([0, 0, 1, 2, 3, 4, 4, 4], (4, 1)))
    assert (np.diff(marked.astype(int), axis=0) <= 0).all()  # from the ground up, without holes
    assert wg.Terrain(1.0).mark(whole(), 0.5, 0.0).sum() == 2 * 64


@pytest.mark.parametrize(
    "solid",
    [
        wg.Box((-1.3, -2, -1), (2.1, 0.4, 1.7)),
        wg.Sphere((0.3, 0.2, 0.9), 1.9),
        cube((-1.3, -2.2, -1.1), (2.1, 0.4, 1.7)),
        wg.Terrain(np.random.default_rng(0).uniform(0, 3, (9, 9)), origin=(-4, -4), spacing=1.0),
    ],
    ids=["box", "sphere", "mesh", "terrain"],
)
def test_markers_that_moved_with_the_grid_equal_fresh_ones(solid):
    wind = Wind((5, 0, 0), **SMALL, solids=[solid], turbulence=0.0)
    rng = np.random.default_rng(1)
    seen = 0
    for _ in range(8):
        focus = rng.uniform(-4, 4, 3)
        wind.step(focus=focus)
        fresh = Wind((5, 0, 0), **SMALL, solids=[solid], focus=focus, turbulence=0.0)
        for level in range(2):
            assert wind.origin(level) == fresh.origin(level)
            assert_array_equal(wind.solid(level), fresh.solid(level))
            seen += wind.solid(level).sum()
    assert seen > 0


def test_coarse_from_fine_leaves_solid_cells_out():
    """A box that fills half of the fine cells under each of some coarse cells which are not solid
    themselves cannot be made of boxes alone: a marker of one's own fills every other fine cell."""

    class Stripes(Solid):
        def mark(self, cells, spacing, time):
            i = cells.first[0] + np.arange(cells.size[0])
            return np.broadcast_to((i % 2 == 0) & (spacing < 0.75), cells.shape).copy()

    wind = Wind((6, 0, 0), **SMALL, solids=[Stripes()], turbulence=0.0)
    from windgrove import _kernels

    fine, coarse = wind._grids
    assert fine.solid.any() and not coarse.solid.any()
    _kernels.cascade_restrict(coarse.fields, fine.fields, 1)
    assert_allclose(wind.velocity(1)[0], 6, rtol=1e-6)


def test_no_wind_is_made_inside_solids():
    solids = [wg.Box((-1, -1, 0), (1, 1, 2)), wg.Sphere((-3, 1, 3), 0.8), wg.Terrain(0.4)]
    wind = Wind(
        (6, 1, 0),
        **SMALL,
        solids=solids,
        effectors=[
            wg.LinearForce(position=(0, 0, 1), direction=(1, 0, 0), radius=3, acceleration=50),
            wg.Vortex(position=(0, 0, 1), radius=3, acceleration=50),
            wg.Rotor(position=(0, 0, 3), radius=2, thrust=200),
            wg.Blast(position=(0, 0, 1), radius=1, speed=20),
        ],
    )
    for number in range(12):
        wind.step(focus=(0.4 * number, 0, 2))
        for level in range(2):
            assert not wind.velocity(level)[:, wind.solid(level)].any()
            assert np.isfinite(wind.velocity(level)).all()


@pytest.mark.parametrize("projection", ["source", "quality"])
def test_no_air_flows_through_a_wall(projection):
    """A wall across the whole channel: behind it the wind it stopped does not blow.

    The face velocities at the wall are closed, so the mean flow through the wall's plane is that of
    the open border cells' neighbours alone; here the wall spans border to border."""
    wall = wg.Box((0, -100, -100), (1, 100, 100))
    wind = Wind((6, 0, 0), **SMALL, turbulence=0.0, solids=[wall], projection=projection)
    for _ in range(60):
        wind.step()
    u = wind.velocity(0)[0]
    solid = wind.solid(0)
    assert not u[solid].any()
    columns = np.flatnonzero(solid[4, 6])
    before, after = u[1:-1, 1:-1, columns[0] - 1], u[1:-1, 1:-1, columns[-1] + 1]
    # Half a cell from the wall: what the cell-centred mean of a closed and an open face leaves.
    assert np.abs(before).max() < 3.0
    assert np.abs(after).max() < 3.0


def test_a_sealed_cavity_keeps_its_air_still():
    """Air shut in on all sides has nothing to drive it; seen: exactly 0."""
    shell = [
        wg.Box((-2, -2, 0.5), (2, 2, 1)), wg.Box((-2, -2, 3), (2, 2, 3.5)),
        wg.Box((-2, -2, 0.5), (-1.5, 2, 3.5)), wg.Box((1.5, -2, 0.5), (2, 2, 3.5)),
        wg.Box((-2, -2, 0.5), (2, -1.5, 3.5)), wg.Box((-2, 1.5, 0.5), (2, 2, 3.5)),
    ]  # fmt: skip
    wind = Wind((6, 0, 0), cells=(16, 16, 8), levels=1, solids=shell, turbulence=0.0)
    state = wind.state()
    x, y, z = (
        wind.origin(0)[axis] + 0.5 * (np.arange(n) + 0.5) for axis, n in enumerate((18, 18, 10))
    )
    inside = (np.abs(x) < 1.5) & (np.abs(y) < 1.5)[:, None] & ((z > 1) & (z < 3))[:, None, None]
    assert inside.sum() == 6 * 6 * 4
    state.velocity[0][:, inside] = 0
    wind.restore(state)
    for _ in range(20):
        wind.step()
    assert np.abs(wind.velocity(0)[:, inside]).max() < 1e-6


def test_a_gap_of_one_cell_lets_air_through():
    walls = [wg.Box((0, -100, -100), (0.5, 0, 100)), wg.Box((0, 0.5, -100), (0.5, 100, 100))]
    wind = Wind((6, 0, 0), **SMALL, solids=walls, turbulence=0.0)
    for _ in range(40):
        wind.step()
    solid = wind.solid(0)
    i = int(np.flatnonzero(solid[4, 1])[0])
    j = int(np.flatnonzero(~solid[4, :, i])[0])
    assert (~solid[4, :, i]).sum() == 1
    assert wind.velocity(0)[0, 4, j, i] > 1.0
    assert np.isfinite(wind.velocity(0)).all()


def test_solids_at_the_border_are_solid_there():
    wind = Wind((6, 0, 0), **SMALL, solids=[wg.Terrain(1.2)], turbulence=0.2)
    for number in range(5):
        wind.step(focus=(number, 0, 2))
    for level in range(2):
        border = np.ones(wind.solid(level).shape, bool)
        border[1:-1, 1:-1, 1:-1] = False
        assert (wind.solid(level) & border).any()
        assert not wind.velocity(level)[:, wind.solid(level)].any()
        assert wind.velocity(level)[0][border & ~wind.solid(level)].mean() > 4


def test_a_moving_solid_pushes_the_air():
    """Field report 30: one moving solid in still air; ahead of it the air goes its way."""
    ball = wg.Sphere((-3, 0.2, 2), 1.0, velocity=(4, 0, 0))
    wind = Wind((0, 0, 0), **SMALL, solids=[ball], vorticity=0.0)
    for _ in range(20):
        wind.step()
    centre = -3 + 4 * wind.time
    solid = wind.solid(0)
    assert_array_equal(solid, ball.mark(Cells((-9, -7, -1), (18, 14, 10)), 0.5, wind.time))
    assert_array_equal(wind.velocity(0)[0][solid], np.full(solid.sum(), 4, np.float32))
    ahead = wind.sample([[centre + 1.8, 0.2, 2]])[0]
    assert ahead[0] > 0.5
    for level in range(2):
        assert np.abs(wind.velocity(level)).max() < 8


def test_a_solid_may_move_along_a_function_of_time():
    ball = wg.Sphere((0, 0, 2), 0.7, motion=swing)
    wind = Wind((0, 0, 0), **SMALL, solids=[ball])
    wind.step()
    speed = (np.array(swing(wind.dt)) - swing(0.0)) / wind.dt
    assert_allclose(wind.velocity(0)[1][wind.solid(0)], speed[1], rtol=1e-6)
    assert pickle.loads(pickle.dumps(wind)).solids[0].motion is swing


def swing(time):
    return (0.0, np.sin(3 * time), 0.0)


def test_a_moving_solid_leaves_air_behind_that_is_not_solid():
    ball = wg.Sphere((-2, 0, 2), 0.6, velocity=(6, 0, 0))
    wind = Wind((1, 0, 0), **SMALL, solids=[ball, wg.Box((3, 3, 0), (4, 4, 1))])
    count = wind.solid(0).sum()
    for _ in range(15):
        wind.step(focus=(0, 0, 2))
    assert 0.5 * count < wind.solid(0).sum() < 2 * count


@pytest.mark.parametrize(
    ("make", "error", "name"),
    [
        (lambda: wg.Box((0, 0, 0), (1, 0, 1)), ValueError, "high"),
        (lambda: wg.Box((0, 0), (1, 1, 1)), ValueError, "low"),
        (lambda: wg.Sphere((0, 0, 0), 0), ValueError, "radius"),
        (lambda: wg.Sphere((0, 0, np.nan), 1), ValueError, "centre"),
        (lambda: wg.Mesh(CUBE_VERTICES, [[0, 1, 9]]), ValueError, "faces"),
        (lambda: wg.Mesh(CUBE_VERTICES, np.zeros((0, 3), int)), ValueError, "faces"),
        (lambda: wg.Mesh(CUBE_VERTICES), TypeError, "vertices"),
        (lambda: wg.Terrain([[np.nan]]), ValueError, "height"),
        (lambda: wg.Terrain([[1.0]], spacing=0), ValueError, "spacing"),
        (lambda: wg.Box((0, 0, 0), (1, 1, 1), motion=3), TypeError, "motion"),
        (
            lambda: wg.Box((0, 0, 0), (1, 1, 1), velocity=(1, 0, 0), motion=swing),
            ValueError,
            "velocity",
        ),
    ],
)
def test_bad_solids_name_the_argument(make, error, name):
    with pytest.raises(error, match=name):
        make()


def test_a_solid_of_ones_own_needs_only_mark():
    class Everything(Solid):
        def mark(self, cells, spacing, time):
            return np.ones(cells.shape, bool)

    solid = Everything()
    assert as_solid(solid) is solid
    wind = Wind((5, 0, 0), cells=(4, 4, 4), levels=2, solids=[solid])
    wind.step(focus=(0.7, 0, 0))
    assert not wind.velocity(0).any()
    assert wind.prevailing().velocity == (5.0, 0.0, 0.0)
