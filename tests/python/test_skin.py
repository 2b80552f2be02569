"""Skinning: the twin, attachment, closed forms and bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import windgrove as wg
from windgrove import _kernels, kernels, reference


def random_tree(n, seed):
    rng = np.random.default_rng(seed)
    parent = np.array([-1] + [rng.integers(0, i) for i in range(1, n)])
    direction = rng.normal(size=(n, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    length = rng.uniform(0.2, 2, n)
    position = np.zeros((n, 3))
    for i in range(1, n):  # some attach before the start or beyond the end of the parent
        p = parent[i]
        position[i] = position[p] + rng.uniform(-0.2, 1.3) * length[p] * direction[p]
    return wg.Tree(
        position=position,
        direction=direction,
        length=length,
        volume=rng.uniform(0.001, 0.01, n),
        area=np.zeros(n),
        kind=np.minimum(np.arange(n), 1),
        parent=parent,
    )


def random_mesh(tree, count, seed):
    rng = np.random.default_rng(seed)
    branch = rng.integers(0, len(tree), count)
    along = rng.uniform(-0.1, 1.2, count)[:, None] * tree.length[branch][:, None]
    vertices = tree.position[branch] + along * tree.direction[branch]
    normals = rng.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return (vertices + rng.normal(0, 0.05, (count, 3))), normals, branch


@pytest.mark.parametrize("n", [1, 2, 9, 60])
@pytest.mark.parametrize("count", [0, 1, 7, 8, 203])
def test_the_kernel_equals_its_twin(n, count):
    """Float32 vertices some metres from the origin: a few ulp of 5 m is 2e-6."""
    tree = random_tree(n, n)
    mesh = random_mesh(tree, count, 5)
    rotation = np.random.default_rng(6).normal(0, 0.4, (n, 3))
    fast, slow = (room.skin(*mesh, tree, rotation) for room in (kernels, reference))
    assert_allclose(fast.vertices, slow.vertices, rtol=0, atol=4e-6)
    assert_allclose(fast.normals, slow.normals, rtol=0, atol=2e-6)


def test_branches_stay_attached():
    """A vertex at a child's root and a parent's vertex at the same place move together: bound by
    1e-6 of the tree's height."""
    tree = random_tree(80, 3)
    rotation = np.random.default_rng(7).normal(0, 0.5, (80, 3))
    child = np.arange(1, 80)
    place = tree.position[child]
    as_child = kernels.skin(place, None, child, tree, rotation).vertices
    as_parent = kernels.skin(place, None, tree.parent[child], tree, rotation).vertices
    assert np.abs(as_child - as_parent).max() < 1e-6 * tree.height


def test_the_rest_pose_stays_to_the_last_bit():
    tree = random_tree(30, 4)
    vertices, normals, branch = random_mesh(tree, 100, 8)
    still = kernels.skin(vertices, normals, branch, tree, np.zeros((30, 3)))
    assert_array_equal(still.vertices, vertices.astype(np.float32))
    assert_array_equal(still.normals, normals.astype(np.float32))


def test_a_trunk_bends_by_the_angle_times_the_distance():
    """Closed form: at distance s of a trunk of length 10 turned by 0.6 rad about y, a point on the
    axis goes to (s sin(0.06 s), 0, s cos(0.06 s)); beyond the end the angle stays 0.6."""
    tree = wg.Tree(
        position=[[0, 0, 0]], direction=[[0, 0, 1]], length=[10], volume=[0.3], area=[0],
        kind=[0], parent=[-1],
    )  # fmt: skip
    s = np.array([0, 1, 5, 10, 12.5])
    bent = kernels.skin(s[:, None] * [0, 0, 1], None, np.zeros(5), tree, [[0, 0.6, 0]]).vertices
    angle = np.minimum(0.06 * s, 0.6)
    expected = np.stack([s * np.sin(angle), 0 * s, s * np.cos(angle)], axis=1)
    assert_allclose(bent, expected, rtol=0, atol=2e-6)
    assert_array_equal(bent[0], [0, 0, 0])  # the root does not move


def test_a_child_moves_rigidly_with_the_place_it_grows_from():
    tree = wg.Tree(
        position=[[0, 0, 0], [0, 0, 5]], direction=[[0, 0, 1], [1, 0, 0]], length=[10, 4],
        volume=[0.3, 0.01], area=[0, 0], kind=[0, 1], parent=[-1, 0],
    )  # fmt: skip
    points = np.array([[0, 0, 5], [1, 0, 5], [4, 0, 5], [3, 0, 5.5]])
    bent = kernels.skin(points, None, np.ones(4), tree, [[0, 0.6, 0], [0, 0, 0]]).vertices
    before = np.linalg.norm(points[:, None] - points, axis=2)
    after = np.linalg.norm(bent[:, None] - bent, axis=2)
    assert_allclose(after, before, atol=2e-6)
    turned = (bent[2] - bent[0]) / 4  # by half of 0.6 rad, at the middle of the trunk
    assert_allclose(turned, [np.cos(0.3), 0, -np.sin(0.3)], atol=1e-6)


def test_threads_and_instruction_sets_change_no_bit():
    tree = random_tree(40, 9)
    mesh = random_mesh(tree, 20_001, 10)
    rotation = np.random.default_rng(11).normal(0, 0.3, (40, 3))
    one = kernels.skin(*mesh, tree, rotation)
    many = kernels.skin(*mesh, tree, rotation, threads=3)
    active = _kernels.isa()
    try:
        _kernels.force_isa("scalar")
        plain = kernels.skin(*mesh, tree, rotation)
    finally:
        _kernels.force_isa(active)
    for other in (many, plain):
        assert_array_equal(one.vertices, other.vertices)
        assert_array_equal(one.normals, other.normals)


def test_nan_stays_where_it_belongs():
    tree = random_tree(20, 12)
    vertices, _, branch = random_mesh(tree, 64, 13)
    rotation = np.random.default_rng(14).normal(0, 0.3, (20, 3))
    vertices[5] = np.nan
    moved = kernels.skin(vertices, None, branch, tree, rotation).vertices
    assert np.isnan(moved).any(axis=1).nonzero()[0].tolist() == [5]


def test_bad_input_is_named():
    tree = random_tree(3, 15)
    good = (np.zeros((4, 3)), None, [0, 1, 2, 0], tree, np.zeros((3, 3)))
    for index, value, text in (
        (0, np.zeros((4, 2)), "vertices"),
        (1, np.zeros((3, 3)), "normals"),
        (2, [0, 1, 2, 3], "vertex 3 names branch 3"),
        (2, [0, -1, 2, 0], "vertex 1 names branch -1"),
        (4, np.zeros((4, 3)), "rotation"),
    ):
        arguments = list(good)
        arguments[index] = value
        with pytest.raises(ValueError, match=text):
            kernels.skin(*arguments)
    with pytest.raises(ValueError, match="threads"):
        kernels.skin(*good, threads=0)
    with pytest.raises(TypeError, match="branch"):
        kernels.skin(good[0], None, [0.5, 1, 2, 0], tree, good[4])
