"""What is wrong with files: each kind, in every format it can reach, is repaired on the record or
refused with file, row and reason; strict mode refuses what would be repaired."""

import io
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import tree_files as files
import windgrove as wg

TABLES = ["simpleforest 17", "simpleforest 36", "computree cylinders", "archi", "rtwig",
          "rtwig treeqsm", "minimal points", "minimal axis"]  # fmt: skip
PARENT_NAMES = {"parent", "parentid", "parent_id", "parent id", "cylinder_parent_id"}
ID_NAMES = {"id", "cyl_id", "cylinder id", "cylinder_id"}


class Rows:
    """A table as text cells that can be changed."""

    def __init__(self, name):
        text = files.SAME[name][0]().decode()
        self.name = name
        self.delimiter = next(d for d in ("\t", ";", ",") if d in text)
        self.header, *self.rows = [line.split(self.delimiter) for line in text.splitlines()]
        names = [cell.strip().lower() for cell in self.header]
        self.parent = next(i for i, n in enumerate(names) if n in PARENT_NAMES)
        if "cylinder_parent_id" in names:
            self.parent = names.index("cylinder_parent_id")
        ids = [i for i, n in enumerate(names) if n in ID_NAMES]
        self.id = ids[-1] if ids else names.index("extension")
        self.radius = next(i for i, n in enumerate(names) if n in ("radius", "radius_cyl"))
        self.length = next((i for i, n in enumerate(names) if n.startswith("length")), None)
        self.z = next(i for i, n in enumerate(names) if n.endswith("z"))

    def content(self):
        rows = [self.header, *self.rows]
        return "".join(self.delimiter.join(row) + "\n" for row in rows).encode()

    def read(self, **options):
        return wg.read_tree(io.BytesIO(self.content()), **options)


@pytest.fixture(params=TABLES)
def rows(request):
    return Rows(request.param)


def kinds(tree):
    return [repair.kind for repair in tree.report.repairs]


def refused(rows, match, row=None, **options):
    with pytest.raises(wg.TreeFormatError, match=match) as caught:
        rows.read(**options)
    if row is not None:
        assert caught.value.row == row and f"row {row}:" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def test_a_parent_that_does_not_exist_is_refused_with_its_row_or_becomes_a_root(rows):
    rows.rows[3][rows.parent] = "77"
    refused(rows, "1 row.s. name a parent that does not exist, the first row 3", row=3)
    tree = rows.read(missing_parents="roots", roots="all")
    assert tree.report.roots == 2 and "missing-parents" in kinds(tree)
    refused(rows, "strict", missing_parents="roots", roots="all", strict=True)


def test_a_row_that_is_its_own_parent_and_a_circle_are_refused_with_their_rows(rows):
    rows.rows[4][rows.parent] = rows.rows[4][rows.id]
    refused(rows, r"is its own parent \(1 such", row=4)
    rows.rows[4][rows.parent] = rows.rows[5][rows.id]
    rows.rows[5][rows.parent] = rows.rows[4][rows.id]
    refused(rows, "go round in a circle", row=4)


def test_the_only_root_may_name_itself(rows):
    rows.rows[0][rows.parent] = rows.rows[0][rows.id]
    assert "own-parent" in kinds(rows.read())
    refused(rows, "strict", strict=True)


@pytest.mark.parametrize("mark", ["65535", "4294967295", "1.8446744073709552e+19", "-1", "", "NA"])
def test_a_root_may_be_minus_one_wrapped_through_an_unsigned_column_or_blank(rows, mark):
    rows.rows[0][rows.parent] = mark
    tree = rows.read()
    assert len(tree) == 4
    assert ("unsigned-underflow" in kinds(tree)) == (mark not in ("-1", "", "NA"))


def test_rows_in_any_order_give_the_same_branches(rows):
    expected = rows.read()
    for seed in range(5):
        np.random.default_rng(seed).shuffle(rows.rows)
        tree = rows.read()
        assert sorted(tree.length) == pytest.approx(sorted(expected.length), rel=1e-12)
        assert sorted(tree.volume) == pytest.approx(sorted(expected.volume), rel=1e-12)
        assert (tree.parent < np.arange(len(tree))).all()
    rows.rows.reverse()
    assert "parents-after-children" in kinds(rows.read())
    refused(rows, "strict", strict=True)


def test_a_doubled_id_is_refused_where_it_is_a_parent_and_told_elsewhere(rows):
    rows.rows[5][rows.id] = rows.rows[6][rows.id]
    if rows.name != "rtwig treeqsm":
        assert "duplicate-ids" in kinds(rows.read())
        refused(rows, "strict", strict=True)
    rows.rows[6][rows.id] = rows.rows[3][rows.id]
    refused(rows, "is the id of 2 rows")


def test_several_roots_keep_the_largest_and_say_what_was_left(rows):
    rows.rows[3][rows.parent] = "-1"
    tree = rows.read()
    assert tree.report.roots == 2 and tree.report.cylinders == 4
    said = next(r for r in tree.report.repairs if r.kind == "several-roots")
    assert said.rows == (3,) and "left 3 cylinder" in said.message
    everything = rows.read(roots="all")
    assert everything.report.cylinders == 7 and len(everything.roots) == 2
    assert_allclose(everything.report.volume, files.VOLUME.sum(), rtol=1e-12)
    refused(rows, "strict", strict=True)
    with pytest.raises(ValueError, match="roots: expected one of largest, all"):
        rows.read(roots="some")


@pytest.mark.parametrize("bad", ["nan", "inf", "", "-0.01", "1e12"])
def test_a_radius_that_cannot_be_is_refused_with_its_row_or_dropped(rows, bad):
    rows.rows[3][rows.radius] = bad
    refused(rows, "radius|beyond", row=3)
    tree = rows.read(bad_rows="drop")
    assert tree.report.cylinders == 6 and "unusable-rows" in kinds(tree)
    assert np.isfinite(tree.volume).all()
    refused(rows, "strict", bad_rows="drop", strict=True)


def test_a_word_among_numbers_is_refused_with_row_and_column(rows):
    rows.rows[2][rows.radius] = "thick"
    refused(rows, "'thick' is not a number", row=2)
    rows.rows[2][rows.radius] = "0.1"
    rows.rows[2][rows.parent] = "1.5"
    refused(rows, "1.5 is not a whole number", row=2)


def test_a_row_of_more_cells_than_the_header_is_refused_with_its_row(rows):
    rows.rows[4] += ["1", "2"]
    refused(rows, "is not a table of", row=4)


def test_a_cut_last_row_is_refused_with_its_row(rows):
    rows.rows[6] = rows.rows[6][: rows.z]
    with pytest.raises(wg.TreeFormatError):
        rows.read()


def test_zero_radii_take_the_branch_away_or_get_the_radius_asked_for(rows):
    rows.rows[6][rows.radius] = "0"
    tree = rows.read()
    assert len(tree) == 3 and "empty-branches" in kinds(tree)
    refused(rows, "strict", strict=True)
    assert len(rows.read(radius=0.01)) == 4
    filled = rows.read(radius=("pipe", 0.004))
    assert_allclose(filled.volume.min(), np.pi * 0.004**2 * files.LENGTH[6], rtol=1e-9)
    for i in range(7):
        rows.rows[i][rows.radius] = "0"
    refused(rows, "no branch has a volume above 0")
    assert len(rows.read(radius="pipe")) == 4


def test_a_trunk_without_volume_that_carries_branches_is_refused(rows):
    for i in range(3):
        rows.rows[i][rows.radius] = "0"
    refused(rows, "carries the others", row=0)


def test_a_length_column_counts_against_the_end_points_and_is_told(rows):
    if rows.length is None or rows.name == "minimal axis":
        pytest.skip("has no length beside end points")
    rows.rows[6][rows.length] = "2.5"
    tree = rows.read()
    assert tree.length.tolist().count(2.5) == 1
    assert "length-contradicts-ends" in kinds(tree)
    rows.rows[6][rows.length] = ""
    if rows.name != "minimal axis":
        assert "blank-length" in kinds(rows.read())


def test_a_tree_far_from_the_origin_is_moved_there_and_the_offset_kept(rows):
    expected = rows.read()
    heights = [i for i, name in enumerate(rows.header)
               if name.strip().lower().endswith("z") and "axis" not in name.lower()
               and "late" not in name and "gro" not in name]  # fmt: skip
    for row in rows.rows:
        for i in heights:
            row[i] = repr(float(row[i]) + 2**22)  # exact: the fractions are short
    tree = rows.read()
    assert_array_equal(tree.position, expected.position)
    assert_allclose(tree.direction, expected.direction, rtol=0, atol=1e-9)  # 2^22 eps is 9e-10
    assert tree.offset.tolist() == [0, 0, 2**22]
    kept = rows.read(recentre=False)
    assert kept.position[0, 2] == 2**22 and kept.offset.tolist() == [0, 0, 0]


def test_a_volume_column_in_litres_or_wrong_is_told_and_not_used():
    rows = Rows("archi")
    column = rows.header.index("volume")
    expected = rows.read()
    for row in rows.rows:
        row[column] = repr(float(row[column]) * 1000)
    tree = rows.read()
    assert "litres" in kinds(tree) and "volume-contradicts-cylinder" not in kinds(tree)
    rows.rows[0][column] = "12345"
    assert "volume-contradicts-cylinder" in kinds(rows.read())
    assert_array_equal(tree.volume, expected.volume)


def test_tiny_cylinders_are_summed_into_their_branch_and_told():
    rows = Rows("archi")
    for name, value in {"endX": "0.500025", "endZ": "1.5", "length": "2.5e-5"}.items():
        rows.rows[4][rows.header.index(name)] = value
    tree = rows.read()
    assert len(tree) == 4 and "tiny-length" in kinds(tree)
    assert_allclose(sorted(tree.length)[2], files.LENGTH[3] + 2.5e-5, rtol=1e-9)


def test_radii_that_share_one_value_are_told():
    """A lower bound of the reconstruction; stiffness goes with its square and more."""
    lines = ["id,parent,x1,y1,z1,x2,y2,z2,radius"]
    lines += [f"{i},{i - 1},0,0,{i},0,0,{i + 1},{0.0025 if i % 2 else 0.1 - i / 1e3}"
              for i in range(40)]  # fmt: skip
    tree = wg.read_tree(io.BytesIO("\n".join(lines).encode()))
    assert "shared-radius" in kinds(tree)


def test_an_axis_that_is_no_unit_vector_is_scaled_and_told():
    rows = Rows("minimal axis")
    column = rows.header.index("axis x")
    for i in range(3):
        rows.rows[2][column + i] = repr(float(0.707 * files.AXIS[2, i]))
    tree = rows.read()
    assert_allclose(tree.height, 3.5, rtol=1e-12)
    assert "axis-not-unit" in kinds(tree)
    refused(rows, "strict", strict=True)
    for i in range(3):
        rows.rows[2][column + i] = "0"
    assert "axis-zero" in kinds(rows.read())


@pytest.mark.parametrize("name", [n for n in files.SAME if n.startswith("treeqsm text")])
def test_rows_taken_out_of_a_format_that_counts_rows_are_noticed(name):
    """Parents are row numbers there: one row out makes all later ones lie."""
    lines = files.SAME[name][0]().decode().splitlines()
    first = 1 if "header" in name else 0
    cut = [*lines[: first + 1], *lines[first + 2 :]]
    with pytest.raises(wg.TreeFormatError, match=r"rows are missing|not clear|does not exist"):
        wg.read_tree(io.BytesIO("\n".join(cut).encode()))


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "is empty"),
        (b" \n\n\t", "is empty"),
        (b"\x00" * 100, "is empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "is an image"),
        (b"%PDF-1.4\nhello", "is a PDF"),
        (b"<html><body>404</body></html>", "is a web page"),
        (b"x,y,z,radius\n0,0,0,0.2\n1,0,0,0.4\n", "positions of trunks"),
        (b"id,parent,radius\n1,0,0.1\n", "no known format"),
        (b"order\tparent\tdiameter (m)\tvolume (L)\tarea (m^2)\tlength (m)\theight (m)\tangle (deg)"
         b"\tazimuth (deg)\tzenith (deg)\n0\t0\t1\t1\t1\t1\t1\t1\t1\t1\n", "table of branches"),
        (b"\x1f\x8b\x08\x00 broken", "gzip"),
        (b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + b"\x0e\x00\x00\x00" * 9, "MATLAB"),
        (b'{"a": 1}', "neither a tree of windgrove's nor"),
        (b"CODE:\tFORM-A\nCLASSES:\nP 1 FREE FREE EXPLICIT\nMTG:\nENTITY-CODE\n", "no entity"),
        (b"ID, parentID, startX, startY, startZ, endX, endY, endZ, radius, growthLength\n",
         "holds no cylinders"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_tree_says_what_it_is(content, match):
    with pytest.raises(wg.TreeFormatError, match=match):
        wg.read_tree(io.BytesIO(content))


def test_a_path_that_cannot_be_read_says_so(tmp_path):
    for path, match in [(tmp_path / "none.csv", "no such file"), (tmp_path, "is a folder")]:
        with pytest.raises(wg.TreeFormatError, match=match) as caught:
            wg.read_tree(path)
        assert caught.value.path == str(path)
    with pytest.raises(TypeError, match="path: expected a path"):
        wg.read_tree(42)
    with pytest.raises(TypeError, match="binary"):
        wg.read_tree(io.StringIO("x"))
    with pytest.raises(ValueError, match="format: expected one of"):
        wg.read_tree(io.BytesIO(b"x"), format="dwg")


def test_a_gzip_bomb_is_refused_before_it_fills_the_memory(monkeypatch):
    import gzip

    from windgrove.trees.readers import source

    monkeypatch.setattr(source, "MAX_BYTES", 10_000)
    with pytest.raises(wg.TreeFormatError, match="unpacks to more than"):
        wg.read_tree(io.BytesIO(gzip.compress(b"0" * 100_000)))


def test_a_folder_gives_what_can_be_read_and_one_report(tmp_path):
    for name, (make, _, _) in files.SAME.items():
        (tmp_path / f"{name.replace(' ', '_')}.dat").write_bytes(make())
    (tmp_path / "broken.csv").write_bytes(files.archi()[:300])
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "tree.csv").write_bytes(files.archi())
    reading = wg.read_folder(tmp_path)
    assert len(reading) == len(files.SAME) == len(list(reading))
    assert sorted(reading.failures) == [str(tmp_path / n) for n in ("broken.csv", "empty.txt")]
    assert f"{len(files.SAME)} tree(s) read" in str(reading) and "2 file(s)" in str(reading)
    assert len(wg.read_folder(tmp_path, recursive=True)) == len(files.SAME) + 1
    assert len(wg.read_folder(tmp_path, pattern="treeqsm_mat_m*", models=True)) == 3
    assert len(wg.read_folder(tmp_path, foliage="bundles", foliage_options={"leaf_area": 2.0})) > 9
    with pytest.raises(ValueError, match="roots: expected"):
        wg.read_folder(tmp_path, roots="some")
    with pytest.raises(wg.TreeFormatError, match="is not a folder"):
        wg.read_folder(tmp_path / "nowhere")


def test_the_one_call_equals_the_steps_one_by_one(tmp_path):
    from windgrove.trees.foliage import add_foliage

    path = tmp_path / "tree.csv"
    path.write_bytes(files.archi())
    whole = wg.read_tree(path, foliage="bundles", foliage_options={"leaf_area": 3.0})
    stepwise = add_foliage(wg.read_tree(path), leaf_area=3.0)
    for name in ("position", "direction", "length", "volume", "area", "parent", "kind"):
        assert_array_equal(getattr(whole, name), getattr(stepwise, name))


def test_the_reference_file_with_broken_parents_is_refused_as_counted(data):
    with pytest.raises(wg.TreeFormatError) as caught:
        wg.read_tree(data / "treetools" / "cloud_trees.txt")
    assert caught.value.row == 108
    message = str(caught.value)
    assert "is its own parent (52 such" in message
    assert "960 row(s) name a parent that does not exist, the first row 8654" in message


def test_the_scanned_tree_with_two_roots_says_what_it_left(data):
    path = data / "itsme" / "single_tree_2_qsm.mat"
    tree = wg.read_tree(path)
    assert tree.report.roots == 2 and len(tree.roots) == 1
    said = next(r for r in tree.report.repairs if r.kind == "several-roots")
    assert "2 roots" in said.message and "roots='all'" in said.message
    assert len(wg.read_tree(path, roots="all").roots) == 2
    with pytest.raises(wg.TreeFormatError, match="strict"):
        wg.read_tree(path, strict=True)


@pytest.mark.parametrize("share", [0.02, 0.2, 0.6])
def test_a_filtered_model_lists_its_pieces_and_has_no_nan(data, share):
    lines = (data / "rtwig" / "QSM.csv").read_text().splitlines()
    rng = np.random.default_rng(1)
    kept = [lines[0], lines[1], *(line for line in lines[2:] if rng.random() > share)]
    content = "\n".join(kept).encode()
    with pytest.raises(wg.TreeFormatError, match="name a parent that does not exist"):
        wg.read_tree(io.BytesIO(content))
    tree = wg.read_tree(io.BytesIO(content), missing_parents="roots", roots="all")
    assert tree.report.cylinders == len(kept) - 1 and tree.report.roots == len(tree.roots) > 1
    orphans = next(r for r in tree.report.repairs if r.kind == "missing-parents")
    assert orphans.count == tree.report.roots - 1
    assert np.isfinite(tree.position).all() and np.isfinite(tree.volume).all()
