"""One tree in every format gives the same branches, however the text around it is dressed."""

import gzip
import io

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import tree_files as files
import windgrove as wg
from windgrove.trees import describe

TEXT = [name for name in files.SAME if "mat" not in name]
# Decimals of the files and sums of at most four terms: a few ulp of 5; seen 4e-16 relative.
# Rings give radii back from points on circles, single precision being enough there.
CLOSE = {"rtol": 1e-12}


def read(content, **options):
    return wg.read_tree(io.BytesIO(content), **options)


def check(tree):
    order = np.lexsort((tree.length, tree.volume))[::-1]
    expected = np.lexsort((files.BRANCH_LENGTH, files.BRANCH_VOLUME))[::-1]
    assert len(tree) == 4
    assert_allclose(tree.length[order], files.BRANCH_LENGTH[expected], **CLOSE)
    assert_allclose(tree.volume[order], files.BRANCH_VOLUME[expected], **CLOSE)
    assert_allclose(tree.report.volume, files.VOLUME.sum(), **CLOSE)
    assert sorted(tree.level.tolist()) == [0, 1, 1, 2]
    assert tree.parent[0] == -1 and tree.kind.tolist() == [0, 1, 1, 1]
    assert_allclose(tree.height, 3.5, **CLOSE)
    assert tree.report.roots == 1


@pytest.mark.parametrize("name", files.SAME)
def test_a_format_is_found_from_its_content_and_gives_the_tree(name):
    make, format, options = files.SAME[name]
    tree = read(make(), **options)
    assert tree.report.format == format
    check(tree)
    again = read(make(), format=format, **options)
    assert_array_equal(again.length, tree.length)


@pytest.mark.parametrize("name", TEXT)
@pytest.mark.parametrize(
    "dress",
    [
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: text.encode("utf-16-le"),
        lambda text: text.rstrip("\n").encode(),
        lambda text: gzip.compress(text.encode()),
    ],
    ids=["crlf", "bom", "utf-16", "utf-16 without mark", "no last newline", "gzip"],
)
def test_line_ends_marks_and_encodings_change_nothing(name, dress):
    make, format, options = files.SAME[name]
    tree = read(dress(make().decode()), **options)
    assert tree.report.format == format
    check(tree)


@pytest.mark.parametrize("name", ["minimal points", "simpleforest 17", "archi", "rtwig"])
def test_decimal_commas_behind_semicolons_are_read(name):
    text = files.SAME[name][0]().decode().replace(",", ";").replace(".", ",")
    if name != "rtwig":
        check(read(text.encode()))
    check(read(text.replace(";", "\t").encode()))


@pytest.mark.parametrize("name", ["minimal points", "archi", "simpleforest 36"])
def test_quoted_cells_blank_lines_and_comments_are_passed_over(name):
    lines = files.SAME[name][0]().decode().splitlines()
    quoted = [",".join(f'"{cell.strip()}"' for cell in line.split(",")) for line in lines]
    check(read(("# a comment\n\n" + "\n".join(quoted) + "\n\n").encode()))


def test_latin_1_text_is_read_and_said():
    text = files.mtg_points().decode() + "# érable\n"
    tree = read(text.encode("latin-1"))
    assert "encoding" in [repair.kind for repair in tree.report.repairs]
    check(tree)


@pytest.mark.parametrize("order", [">", "<"])
def test_both_byte_orders_of_matlab_files_are_read(order):
    import struct

    content = bytearray(files.mat({"QSM": files.model()}))
    if order == ">":
        pytest.importorskip("scipy")
        content = bytearray(big_endian())
    assert struct.unpack(order + "H", bytes(content[126:128]))[0] == 0x4D49
    check(read(bytes(content)))


def big_endian():
    """A version 4.x-free, big-endian level 5 file of the flat variables, written by hand."""
    import struct

    columns = files.cylinder_struct()
    arrays = {"Rad": columns["radius"], "Len": columns["length"], "Sta": files.START,
              "Axe": files.AXIS, "CPar": columns["parent"].astype(float),
              "BoC": np.hstack([columns[n].astype(float) for n in
                                ("branch", "BranchOrder", "PositionInBranch")])}  # fmt: skip
    out = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack(">HH", 0x0100, 0x4D49)

    def element(kind, data):
        return struct.pack(">II", kind, len(data)) + data + b"\0" * (-len(data) % 8)

    for name, values in arrays.items():
        body = element(6, struct.pack(">II", 6, 0)) + element(5, struct.pack(">ii", *values.shape))
        body += element(1, name.encode()) + element(9, values.T.astype(">f8").tobytes())
        out += struct.pack(">II", 14, len(body)) + body
    return out


def test_every_model_of_a_file_can_be_picked_or_all_read():
    content = files.treeqsm_mat_models()
    assert len(wg.read_trees(io.BytesIO(content))) == 3
    check(read(content, model=2))
    check(read(content, model=-1))
    with pytest.raises(ValueError, match="model: the file holds 3"):
        read(content, model=3)
    with pytest.raises(TypeError, match="model: read_trees"):
        wg.read_trees(io.BytesIO(content), model=1)


def test_a_broken_model_spoils_neither_the_others_nor_the_file():
    import scipy.io

    records = scipy.io.loadmat(io.BytesIO(files.treeqsm_mat_models()))["QSMs"]
    records["cylinder"][0, 1]["parent"][0, 0][2] = 200
    content = files.mat({"QSMs": records})
    check(read(content))
    check(read(content, model=2))
    with pytest.raises(wg.TreeFormatError, match=r"model 1.*row 2.*does not"):
        read(content, model=1)


def test_several_trees_a_file_are_read_one_by_one_or_together():
    tree = files.raycloud("header").decode().splitlines()[-1]
    small = "9,0,0,0.1,-1, 9,0,1,0.1,0"
    content = f"# comment\nx,y,z,radius,parent_id\n{small}\n{tree}\n{small}\n".encode()
    trees = wg.read_trees(io.BytesIO(content))
    assert [len(t) for t in trees] == [1, 4, 1]
    check(trees[1])
    assert trees[0].offset.tolist() == [9, 0, 0]
    largest = read(content)
    check(largest)
    assert "several-trees" in [repair.kind for repair in largest.report.repairs]
    both = read(content, roots="all")
    assert len(both) == 6 and both.report.roots == 3
    assert_allclose(both.report.volume, files.VOLUME.sum() + 2 * np.pi * 0.01, **CLOSE)


def test_an_order_of_columns_that_stays_unclear_has_to_be_named():
    """One cylinder a branch, order and flags all 0 and 1: both orders fit."""
    row = [0.1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 1]
    content = ("\t".join(map(str, row)) + "\n").encode()
    with pytest.raises(wg.TreeFormatError, match="order of its 15 columns is not clear"):
        read(content)
    assert len(read(content, columns="fields-15")) == 1
    with pytest.raises(ValueError, match="columns: expected one of"):
        read(content, columns="other")
    with pytest.raises(wg.TreeFormatError, match="has 15 columns, columns='saved-17' has 17"):
        read(content, columns="saved-17")


def test_units_are_read_from_names_or_asked_for():
    millimetres = files.table(
        {"id": np.arange(7), "parent": files.PARENT,
         **files.xyz("start_", files.START * 1000, ("x_mm", "y_mm", "z_mm")),
         **files.xyz("end_", files.END * 1000, ("x_mm", "y_mm", "z_mm")),
         "diameter (cm)": files.RADIUS * 200},
    )  # fmt: skip
    tree = read(millimetres)
    check(tree)
    assert "cm" not in tree.report.units or "0.01" in tree.report.units
    scaled = files.minimal().decode()
    tenfold = read(scaled.encode(), units="dm")
    assert_allclose(tenfold.length * 10, read(scaled.encode()).length, **CLOSE)
    with pytest.raises(ValueError, match=r"units: expected m, dm, cm, mm or 0\.1mm"):
        read(scaled.encode(), units="inch")


def test_a_matlab_file_by_rtwig_counts_in_extension_and_from_zero():
    """Its SimpleForest models keep ids from 0 and -1 for a root in a struct named cylinder."""
    columns = files.cylinder_struct()
    columns |= {"parent": files.PARENT[:, None].astype(float), "added": np.array([[np.nan]]),
                "extension": np.arange(7)[:, None].astype(float), "SurfCov": np.array([[np.nan]]),
                "branch": files.BRANCH[:, None] * 0}  # fmt: skip
    check(read(files.mat({"cylinder": columns})))
    columns |= {"parent": files.PARENT[:, None] + 1.0, "extension": np.arange(7)[:, None] + 1.0}
    check(read(files.mat({"cylinder": columns})))


@pytest.mark.parametrize("name", [*files.SAME, *files.OTHERS])
def test_a_tree_is_described_in_at_most_ten_lines(name):
    make, format, options = {**files.SAME, **files.OTHERS}[name]
    lines = describe(io.BytesIO(make()), **options).splitlines()
    assert len(lines) <= 10 and format in lines[0]


def test_a_description_keeps_to_ten_lines_whatever_there_is_to_say(data):
    for path in sorted(data.glob("*/*.mtg")):
        text = describe(path, length=0.1, radius="pipe", bad_rows="drop")
        assert len(text.splitlines()) <= 10
    assert "2 root(s)" in describe(data / "itsme" / "single_tree_2_qsm.mat")


FIELD_TABLE = """Lfd;Mutter;von X;von Y;von Z;bis X;bis Y;bis Z;Dicke
101;;0;0;0;0;0;2;200
102;101;0;0;2;0;0;4;150
103;102;0;0;4;1;0;5;80
"""


def test_columns_of_any_name_are_told_by_the_name_to_use(tmp_path):
    path = tmp_path / "plot7.csv"
    path.write_text(FIELD_TABLE)
    with pytest.raises(wg.TreeFormatError, match="without parents, start points"):
        wg.read_tree(path)
    columns = {"id": "lfd", "parent": "Mutter", "diameter (mm)": "Dicke"}
    columns |= {f"start_{k}": f"von {k}" for k in "xyz"} | {f"end_{k}": f"bis {k}" for k in "xyz"}
    tree = wg.read_tree(path, columns=columns)
    expected = np.pi / 4 * (2 * 0.2**2 + 2 * 0.15**2 + np.sqrt(2) * 0.08**2)
    assert tree.volume.sum() == pytest.approx(expected, rel=1e-12)
    with pytest.raises(
        wg.TreeFormatError, match="0 columns named 'Nummer', which columns= calls 'id'"
    ):
        wg.read_tree(path, columns={"id": "Nummer"})


def test_parents_that_name_ids_need_a_column_of_ids(tmp_path):
    path = tmp_path / "table.csv"
    header = "lfd,parent,start_x,start_y,start_z,end_x,end_y,end_z,radius"
    rows = ["101,,0,0,0,0,0,2,0.1", "102,101,0,0,2,0,0,4,0.1", "103,102,0,0,4,0,0,5,0.05"]
    path.write_text("\n".join([header, *rows]))
    with pytest.raises(wg.TreeFormatError, match="no column of ids was found"):
        wg.read_tree(path)
    assert wg.read_tree(path, columns={"id": "lfd"}).height == 5
