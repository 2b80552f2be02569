"""Trees written and read again: every bit of our own formats, every cylinder of the others."""

import io
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import tree_files as files
import windgrove as wg
from windgrove.trees import Repair, Segments, Tree, TreeReport
from windgrove.trees.foliage import add_foliage
from windgrove.trees.write import encode_tree

BRANCHES = ("position", "direction", "length", "volume", "area", "kind", "parent", "level",
            "source_id", "offset")  # fmt: skip
CYLINDERS = ("start", "end", "radius", "branch", "length", "parent")
SUFFIXES = ["json", "h5", "json.gz", "csv", "csv.gz", "txt"]


def same(first, second, names):
    for name in names:
        assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)


def back(tree, format, **options):
    return wg.read_tree(io.BytesIO(encode_tree(tree, format, **options)), roots="all")


@st.composite
def trees(draw):
    """Random trees of chains of cylinders, some with gaps, far from the origin, of any ids."""
    count = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parent = np.array([-1, *(int(rng.integers(0, i)) for i in range(1, count))])
    rows = rng.integers(1, 4, count)
    branch = np.repeat(np.arange(count), rows)
    first = np.concatenate([[0], np.cumsum(rows)[:-1]])
    above = np.arange(len(branch)) - 1
    above[first] = np.where(parent < 0, -1, first[parent] + rng.integers(0, rows[parent]))
    start, end = np.zeros((len(branch), 3)), np.zeros((len(branch), 3))
    for i, p in enumerate(above):
        start[i] = end[p] if p >= 0 else 0.0
        if p >= 0 and draw(st.booleans()):
            start[i] += rng.normal(0, 0.1, 3)
        end[i] = start[i] + rng.normal(0, 1, 3)
    length = np.linalg.norm(end - start, axis=1)
    if draw(st.booleans()):
        length *= rng.uniform(0.9, 1.1, len(length))
    radius = rng.uniform(1e-3, 0.3, len(branch))
    last = first + rows - 1
    chord = end[last] - start[first]
    sizes = np.linalg.norm(chord, axis=1)
    return Tree(
        position=start[first],
        direction=chord / sizes[:, None],
        length=np.bincount(branch, weights=length),
        volume=np.bincount(branch, weights=np.pi * radius**2 * length),
        area=np.zeros(count),
        kind=np.where(parent < 0, 0, 1),
        parent=parent,
        source_id=rng.permutation(10_000)[:count],
        name=draw(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=8)),  # noqa: E501
        offset=rng.normal(0, 1e6, 3) if draw(st.booleans()) else None,
        report=TreeReport(
            format="made", attributes={"a": rng.normal(), "b": float("inf")},
            repairs=(Repair("kind", "what", (1, 2), 2),),
        ),
        segments=Segments(start, end, radius, branch, np.arange(len(branch)) * 3, length, above),
    )  # fmt: skip


@given(trees(), st.sampled_from(["json", "hdf5"]))
def test_our_own_formats_bring_every_bit_back(tree, format):
    again = back(tree, format)
    same(tree, again, BRANCHES)
    same(tree.segments, again.segments, (*CYLINDERS, "source_id"))
    assert again.report == tree.report and again.name == tree.name


@given(trees(), st.sampled_from(["simpleforest", "raycloud"]))
def test_tables_and_tree_files_bring_cylinders_and_branches_back(tree, format):
    """In the tree's own coordinates, where nothing is added to round; `direction` is worked out
    again from the same ends by the same sums."""
    again = back(tree.replace(offset=np.zeros(3)), format, world=False)
    same(tree.segments, again.segments, CYLINDERS)
    same(tree, again, ("position", "length", "parent", "kind"))
    assert_allclose(again.volume, tree.volume, rtol=1e-15)
    assert_allclose(again.direction, tree.direction, rtol=0, atol=1e-15)


@given(trees())
def test_a_treeqsm_model_brings_cylinders_and_branches_back_to_rounding(tree):
    """It holds axes instead of ends: an ulp of the length, a few of the coordinates."""
    again = back(tree.replace(offset=np.zeros(3)), "treeqsm", world=False)
    same(tree, again, ("parent", "kind"))
    assert_array_equal(again.segments.radius, tree.segments.radius)
    assert_allclose(again.length, tree.length, rtol=1e-14)
    assert_allclose(again.volume, tree.volume, rtol=1e-14)
    assert_allclose(again.position, tree.position, rtol=0, atol=1e-13)


@given(trees(), st.sampled_from(["simpleforest", "raycloud"]))
def test_world_coordinates_come_back_within_their_rounding(tree, format):
    """At 1e6 m a double is 1e-10 m apart; a sum and a difference may each lose half of it."""
    again = back(tree, format)
    ulp = np.spacing(np.abs(tree.offset).max() + 100)
    assert_allclose(
        again.offset + again.position, tree.offset + tree.position, rtol=0, atol=2 * ulp
    )
    assert_array_equal(again.segments.radius, tree.segments.radius)
    assert_array_equal(again.parent, tree.parent)


@pytest.mark.parametrize("name", ["rtwig/QSM.csv", "rtwig/QSM.mat", "archi/Tree_1_TreeQSM.txt",
                                  "canopyhydro/charlie_brown.csv"])  # fmt: skip
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_real_trees_come_back_from_files(data, tmp_path, name, suffix):
    tree = wg.read_tree(data / name)
    path = tmp_path / f"tree.{suffix}"
    wg.write_tree(tree, path, world=False)
    again = wg.read_tree(path)
    same(tree, again, [n for n in BRANCHES if n != "offset"])
    same(tree.segments, again.segments, CYLINDERS)


def test_leaves_and_grown_trees_come_back_and_foreign_formats_refuse_leaves(tmp_path):
    tree = wg.grow_tree("birch", seed=3)
    for suffix in ("json", "h5"):
        wg.write_tree(tree, tmp_path / f"birch.{suffix}")
        same(tree, wg.read_tree(tmp_path / f"birch.{suffix}"), BRANCHES)
    leafy = add_foliage(wg.read_tree(io.BytesIO(files.archi())), leaf_area=2.0)
    for suffix in ("csv", "txt", "mat"):
        with pytest.raises(ValueError, match="hold no leaves"):
            wg.write_tree(leafy, tmp_path / f"leafy.{suffix}")
        assert not os.listdir(tmp_path) or f"leafy.{suffix}" not in os.listdir(tmp_path)


@pytest.mark.parametrize("format", ["json", "hdf5", "simpleforest", "raycloud", "treeqsm"])
def test_a_tree_without_cylinders_is_written_as_one_cylinder_a_branch(format):
    tree = wg.read_tree(io.BytesIO(files.archi())).replace(segments=None)
    again = back(tree, format)
    assert_allclose(again.length, tree.length, rtol=1e-12)
    assert_allclose(again.volume, tree.volume, rtol=1e-12)
    assert_array_equal(again.parent, tree.parent)


def test_several_roots_are_written_where_the_format_has_them():
    content = files.archi().decode().splitlines()
    column = content[0].split(",").index("parent_ID")
    row = content[4].split(",")
    row[column] = "0"
    content[4] = ",".join(row)
    tree = wg.read_tree(io.BytesIO("\n".join(content).encode()), roots="all")
    for format in ("json", "hdf5", "simpleforest", "treeqsm"):
        assert len(back(tree, format).roots) == 2
    with pytest.raises(ValueError, match="one root"):
        encode_tree(tree, "raycloud")


def test_a_written_table_has_what_other_readers_look_for():
    """SimpleForest's names in its order; growthLength and reverse orders worked out; TreeQSM's
    struct as SciPy reads it, volumes in litres; a tree file's fields from x to parent_id."""
    from scipy.io import loadmat

    tree = wg.read_tree(io.BytesIO(files.simpleforest_36()))
    header, *rows = encode_tree(tree, "simpleforest").decode().splitlines()
    names = [name.strip() for name in header.split(",")]
    upstream = files.simpleforest_36().decode().splitlines()[0].split(",")
    expected = ("type ID parentID startX startY startZ endX endY endZ radius volume growthVolume "
                "length growthLength")  # fmt: skip
    assert names[:14] == expected.split()
    assert {name.strip() for name in upstream} <= set(names)
    first = dict(zip(names, rows[0].split(","), strict=True))
    assert float(first["growthLength"]) == pytest.approx(files.LENGTH.sum(), rel=1e-12)
    assert int(first["reversePipeAreaBranchorder"]) == 4  # tips
    model = loadmat(io.BytesIO(encode_tree(tree, "treeqsm")))["QSM"][0, 0]
    cylinder = model["cylinder"][0, 0]
    assert cylinder["parent"].ravel().tolist() == (files.PARENT + 1).tolist()
    assert cylinder["start"].shape == (7, 3)
    assert model["treedata"][0, 0]["TotalVolume"].item() == pytest.approx(1e3 * files.VOLUME.sum())
    lines = encode_tree(tree, "raycloud").decode().splitlines()
    assert lines[0].startswith("#") and lines[1].startswith("x,y,z,radius,parent_id")
    assert len(lines) == 3 and lines[2].count(", ") >= 7


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    tree = wg.read_tree(io.BytesIO(files.archi()))
    path = tmp_path / "tree.json"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        wg.write_tree(tree, path)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["tree.json"]


def test_a_path_that_says_no_format_is_refused(tmp_path):
    tree = wg.read_tree(io.BytesIO(files.archi()))
    with pytest.raises(ValueError, match=r"path: '\.xyz' says no format"):
        wg.write_tree(tree, tmp_path / "tree.xyz")
    with pytest.raises(ValueError, match="format: expected one of"):
        wg.write_tree(tree, tmp_path / "tree.xyz", format="dwg")
    wg.write_tree(tree, tmp_path / "tree.xyz", format="json")
    assert len(wg.read_tree(tmp_path / "tree.xyz")) == 4
