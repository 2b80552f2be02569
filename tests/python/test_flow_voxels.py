"""Voxels: meshes against the twin and closed forms, boxes, balls and terrain, bad input."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from windgrove import _kernels, kernels, reference

BOX_FACES = np.array(
    [(0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4),
     (2, 6, 3), (3, 6, 7), (0, 4, 2), (2, 4, 6), (1, 3, 5), (3, 7, 5)]
)  # fmt: skip


def box_mesh(low, high):
    """Corners in the order of the bits x, y, z; faces turned outward."""
    bits = np.array([(n & 1, n >> 1 & 1, n >> 2 & 1) for n in range(8)])
    return np.where(bits, high, low).astype(float), BOX_FACES


def ball_mesh(rings, radius, centre):
    """Rings of latitude, twice as many meridians, one vertex at each pole."""
    polar = np.linspace(0, np.pi, rings + 1)[1:-1]
    around = np.linspace(0, 2 * np.pi, 2 * rings, endpoint=False)
    t, p = np.meshgrid(polar, around, indexing="ij")
    rim = np.stack([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)], -1).reshape(-1, 3)
    vertices = np.concatenate([rim, [(0, 0, 1), (0, 0, -1)]]) * radius + centre
    ring = np.arange(len(rim)).reshape(t.shape)
    a, b = ring[:-1].ravel(), ring[1:].ravel()
    c, d = np.roll(ring, -1, 1)[:-1].ravel(), np.roll(ring, -1, 1)[1:].ravel()
    top, bottom = ring[0], ring[-1]
    faces = [
        np.stack([a, b, d], -1), np.stack([a, d, c], -1),
        np.stack([np.full_like(top, len(rim)), top, np.roll(top, -1)], -1),
        np.stack([np.full_like(bottom, len(rim) + 1), np.roll(bottom, -1), bottom], -1),
    ]  # fmt: skip
    return vertices, np.concatenate(faces)


def turned(vertices, seed):
    """A random rotation about the vertices' mean."""
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    centre = vertices.mean(axis=0)
    return (vertices - centre) @ (q * np.linalg.det(q)).T + centre


def together(*meshes):
    starts = np.cumsum([0] + [len(v) for v, _ in meshes[:-1]])
    return (
        np.concatenate([v for v, _ in meshes]),
        np.concatenate([f + s for (_, f), s in zip(meshes, starts, strict=True)]),
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_rotated_box_equals_the_twin(seed):
    vertices, faces = box_mesh((1.03, 1.41, 0.87), (4.9, 3.7, 3.31))
    vertices = turned(vertices, seed)
    got = kernels.voxelize(vertices, faces, (-0.1, 0.2, -0.3), 0.37, (15, 14, 17))
    assert_array_equal(got, reference.voxelize(vertices, faces, (-0.1, 0.2, -0.3), 0.37, got.shape))
    assert got.any() and not got.all()


@pytest.mark.parametrize("seed", range(2))
def test_a_ball_equals_the_twin_also_as_a_soup_turned_at_random(seed):
    vertices, faces = ball_mesh(4, 1.2, (1.5, 1.6, 1.4))
    vertices = turned(vertices, seed)
    got = kernels.voxelize(vertices, faces, (0, 0, 0), 0.31, (9, 10, 10))
    assert_array_equal(got, reference.voxelize(vertices, faces, (0, 0, 0), 0.31, got.shape))

    rng = np.random.default_rng(seed)
    flipped = np.where(rng.random(len(faces))[:, None] < 0.5, faces, faces[:, ::-1])
    assert kernels.mesh_report(vertices, flipped).fill == "parity"
    assert_array_equal(kernels.voxelize(vertices, flipped, (0, 0, 0), 0.31, got.shape), got)
    assert_array_equal(
        reference.voxelize(vertices, flipped, (0, 0, 0), 0.31, got.shape, fill="parity"), got
    )
    soup = vertices[faces].reshape(-1, 3)
    alone = np.arange(len(soup)).reshape(-1, 3)
    assert kernels.mesh_report(soup, alone).fill == "winding"
    assert_array_equal(kernels.voxelize(soup, alone, (0, 0, 0), 0.31, got.shape), got)


@pytest.mark.parametrize("spacing", [0.1, 0.25, 0.3, 1 / 3])
@pytest.mark.parametrize("base", [0.0, 1234.5, -1e6])
def test_a_box_whose_faces_lie_on_cell_faces_fills_exactly_its_cells(spacing, base):
    low, high = np.array((2, 3, 1)), np.array((7, 5, 4))
    expected = np.zeros((6, 8, 9), bool)
    expected[1:4, 3:5, 2:7] = True
    origin = np.full(3, base)
    vertices, faces = box_mesh(origin + spacing * low, origin + spacing * high)
    assert_array_equal(kernels.voxelize(vertices, faces, origin, spacing, (6, 8, 9)), expected)
    out = np.zeros((6, 8, 9), bool)
    _kernels.voxelize_box(vertices[0], vertices[7], origin, spacing, out)
    assert_array_equal(out, expected)


@pytest.mark.parametrize("spacing", [0.1, 0.3, 1 / 3])
def test_a_box_given_in_single_precision_still_fills_exactly_its_cells(spacing):
    """Files hold float32: 4e-7 of a cell off, which the millionth by which cells shrink covers."""
    vertices, faces = box_mesh(spacing * np.array((2, 3, 1)), spacing * np.array((7, 5, 4)))
    expected = np.zeros((6, 8, 9), bool)
    expected[1:4, 3:5, 2:7] = True
    got = kernels.voxelize(vertices.astype(np.float32), faces, (0, 0, 0), spacing, (6, 8, 9))
    assert_array_equal(got, expected)


def test_a_box_off_the_faces_fills_every_cell_it_shares_volume_with():
    low, high = np.array((0.61, 0.2, 0.9)), np.array((2.3, 1.01, 1.99))
    k, j, i = np.indices((5, 6, 7))
    cell = np.stack([i, j, k], -1) * 0.5
    expected = ((cell < high) & (cell + 0.5 > low)).all(axis=-1)
    assert_array_equal(kernels.voxelize(*box_mesh(low, high), (0, 0, 0), 0.5, (5, 6, 7)), expected)
    out = np.zeros((5, 6, 7), bool)
    _kernels.voxelize_box(low, high, np.zeros(3), 0.5, out)
    assert_array_equal(out, expected)


def test_a_gap_of_one_cell_survives():
    left, right = box_mesh((0, 0, 0), (1, 3, 2)), box_mesh((1.5, 0, 0), (3, 3, 2))
    got = kernels.voxelize(*together(left, right), (0, 0, 0), 0.5, (4, 6, 6))
    assert not got[:, :, 2].any() and got[:, :, [0, 1, 3, 4, 5]].all()


@pytest.mark.parametrize("fill", ["mesh", "ball"])
def test_the_volume_of_a_ball_converges(fill):
    """Cells are solid that the surface crosses, so the volume is too large by about half a cell
    times the surface: the excess falls by 2 when the cell is halved (2.0 seen)."""
    radius, centre = 1.0, np.array((1.31, 1.27, 1.29))
    exact, excess = 4 / 3 * np.pi * radius**3, []
    for n in (24, 48, 96):
        h = 2.6 / n
        if fill == "mesh":
            marks = kernels.voxelize(*ball_mesh(100, radius, centre), (0, 0, 0), h, (n, n, n))
        else:
            marks = np.zeros((n, n, n), bool)
            _kernels.voxelize_sphere(centre, radius, np.zeros(3), h, marks)
        excess.append(marks.sum() * h**3 / exact - 1)
    assert 1.8 < excess[0] / excess[1] < 2.2 and 1.8 < excess[1] / excess[2] < 2.2
    assert excess[2] < 0.07


def test_cells_of_a_ball_are_those_nearer_than_its_radius():
    centre, radius = np.array((1.7, 2.3, 1.1)), 1.37
    marks = np.zeros((9, 10, 11), bool)
    _kernels.voxelize_sphere(centre, radius, np.zeros(3), 0.4, marks)
    k, j, i = np.indices(marks.shape)
    low = 0.4 * np.stack([i, j, k], -1)
    nearest = np.clip(centre, low, low + 0.4)
    assert_array_equal(marks, ((nearest - centre) ** 2).sum(-1) < radius**2)


def test_rays_through_edges_and_vertices_never_leak():
    """Vertices and edges lie exactly on the lines through the cell centres."""
    octahedron = np.array(
        [(4, 0, 0), (-4, 0, 0), (0, 4, 0), (0, -4, 0), (0, 0, 4), (0, 0, -4)], float
    )
    faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    got = kernels.voxelize(octahedron, faces, (-6.5, -6.5, -6.5), 1.0, (13, 13, 13))
    k, j, i = np.abs(np.indices((13, 13, 13)) - 6)
    assert_array_equal(got, np.maximum(i - 0.5, 0) + np.maximum(j - 0.5, 0)
                       + np.maximum(k - 0.5, 0) < 4)  # fmt: skip


def test_overlapping_parts_are_united_and_a_cavity_stays_open():
    a, b = box_mesh((1, 1, 1), (6, 6, 6)), box_mesh((4, 4, 4), (9, 9, 9))
    both = kernels.voxelize(*together(a, b), (0, 0, 0), 1.0, (10, 10, 10))
    expected = np.zeros((10, 10, 10), bool)
    expected[1:6, 1:6, 1:6] = expected[4:9, 4:9, 4:9] = True
    assert_array_equal(both, expected)
    vertices, faces = box_mesh((3, 3, 3), (5, 5, 5))
    hollow = kernels.voxelize(*together(a, (vertices, faces[:, ::-1])), (0, 0, 0), 1, (8, 8, 8))
    expected = np.zeros((8, 8, 8), bool)
    expected[1:6, 1:6, 1:6] = True
    expected[3:5, 3:5, 3:5] = False
    assert_array_equal(hollow, expected)


def test_an_open_mesh_warns_and_marks_its_surface_alone():
    vertices, faces = box_mesh((1.2, 1.2, 1.2), (6.8, 6.8, 6.8))
    report = kernels.mesh_report(vertices, faces[:-2])
    assert (report.fill, report.open_edges, report.closed) == ("surface", 4, False)
    with pytest.warns(UserWarning, match="the mesh is open \\(4 edges"):
        got = kernels.voxelize(vertices, faces[:-2], (0, 0, 0), 1.0, (8, 8, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked = kernels.voxelize(vertices, faces[:-2], (0, 0, 0), 1.0, (8, 8, 8), fill="surface")
    assert_array_equal(got, asked)
    expected = np.zeros((8, 8, 8), bool)
    expected[1:7, 1:7, 1:7] = True
    expected[2:6, 2:6, 2:7] = False
    assert_array_equal(got, expected)


def test_degenerate_faces_are_lines_of_surface():
    vertices = np.array([(0.5, 0.5, 0.5), (4.5, 0.5, 0.5), (2.5, 0.5, 0.5)])
    got = kernels.voxelize(vertices, [(0, 1, 2)], (0, 0, 0), 1.0, (2, 2, 6), fill="surface")
    assert got.sum() == 5 and got[0, 0, :5].all()


def test_a_part_of_a_grid_is_marked_like_the_whole():
    vertices, faces = ball_mesh(9, 2.7, (3.1, 3.2, 2.9))
    whole = kernels.voxelize(vertices, faces, (0, 0, 0), 0.4, (16, 16, 16))
    part = kernels.voxelize(vertices, faces, (2.0, 0.8, 1.2), 0.4, (6, 9, 8))
    assert_array_equal(part, whole[3:9, 2:11, 5:13])


def test_a_mesh_larger_than_the_grid_fills_it():
    assert kernels.voxelize(*box_mesh((-1e6,) * 3, (1e6,) * 3), (0, 0, 0), 0.5, (4, 5, 6)).all()


def test_terrain_marks_the_cells_below_its_highest_point_in_them():
    """Against the maximum over 33 x 33 places of each column: a bilinear surface is highest at a
    corner of a patch, and the lattice lines (every 0.5 of cells of 0.8) are among the places
    to 0.8 / 32 m, so that no place is higher than the kernel's by more than rounding."""
    rng = np.random.default_rng(1)
    height = rng.uniform(0.5, 3.0, (7, 9))
    marks = np.zeros((6, 5, 6), bool)
    _kernels.voxelize_terrain(height, np.array((0.3, 0.4)), 0.5, np.zeros(3), 0.8, marks)

    def ground(x, y):
        at = np.clip([(x - 0.3) / 0.5, (y - 0.4) / 0.5], 0, [[8], [6]])
        i, j = np.minimum(at.astype(int), [[7], [5]])
        s, t = at[0] - i, at[1] - j
        low = height[j, i] * (1 - s) + height[j, i + 1] * s
        return low * (1 - t) + (height[j + 1, i] * (1 - s) + height[j + 1, i + 1] * s) * t

    for j in range(5):
        for i in range(6):
            lines_x = 0.3 + 0.5 * np.arange(9)
            lines_y = 0.4 + 0.5 * np.arange(7)
            x = np.concatenate([np.linspace(0.8 * i, 0.8 * i + 0.8, 33), lines_x])
            y = np.concatenate([np.linspace(0.8 * j, 0.8 * j + 0.8, 33), lines_y])
            x = x[(x >= 0.8 * i) & (x <= 0.8 * i + 0.8)]
            y = y[(y >= 0.8 * j) & (y <= 0.8 * j + 0.8)]
            top = ground(*(v.ravel() for v in np.meshgrid(x, y))).max()
            assert_array_equal(marks[:, j, i], 0.8 * np.arange(6) < top)


def test_flat_ground_and_a_single_height():
    marks = np.zeros((4, 3, 3), bool)
    _kernels.voxelize_terrain(np.array([[1.0]]), np.zeros(2), 1.0, np.zeros(3), 0.5, marks)
    assert marks[:2].all() and not marks[2:].any()


def test_marks_are_added_never_taken():
    marks = np.zeros((4, 4, 4), bool)
    marks[3, 3, 3] = True
    _kernels.voxelize_box(np.zeros(3), np.ones(3), np.zeros(3), 1.0, marks)
    assert marks.sum() == 2 and marks[3, 3, 3] and marks[0, 0, 0]


def test_bad_input_names_the_argument():
    vertices, faces = box_mesh((0, 0, 0), (1, 1, 1))
    good = {"vertices": vertices, "faces": faces, "origin": (0, 0, 0), "spacing": 0.5,
            "shape": (3, 3, 3)}  # fmt: skip
    bad = faces.copy()
    bad[4, 1] = 8
    for message, change in {
        "vertices: expected shape": {"vertices": vertices[:, :2]},
        "vertices: not finite": {"vertices": np.where(vertices == 1, np.nan, vertices)},
        "faces: row 4 names vertex 8, expected 0 to 7": {"faces": bad},
        "faces: row 0 names vertex -1": {"faces": faces - 1},
        "faces: expected shape": {"faces": faces[:, :2]},
        "origin: expected shape": {"origin": (0, 0)},
        "spacing: expected a number above 0": {"spacing": 0},
        "shape: expected \\(nz": {"shape": (3, 3)},
        "shape: expected an integer from 1": {"shape": (3, 0, 3)},
        "fill: expected one of": {"fill": "solid"},
        "vertices: expected coordinates within": {"vertices": vertices * 1e101},
        "origin: expected coordinates within": {"origin": (0, 1e200, 0)},
    }.items():
        with pytest.raises(ValueError, match=message):
            kernels.voxelize(**{**good, **change})
    for message, change in {
        "faces: expected integers": {"faces": faces + 0.5},
        "faces: expected integers, got True": {"faces": np.ones((2, 3), bool)},
        "shape: expected an integer, got True": {"shape": (True, 3, 3)},
        "shape: expected an integer, got 3.0": {"shape": (3.0, 3, 3)},
        "shape: expected a sequence": {"shape": 3},
    }.items():
        with pytest.raises(TypeError, match=message):
            kernels.voxelize(**{**good, **change})
