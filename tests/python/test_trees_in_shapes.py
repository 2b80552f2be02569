"""The small tree as other public tools give it: analysed, drawn, digitised, without names."""

import io
import struct

import numpy as np
import pytest
from numpy.testing import assert_allclose

import tree_files as files
import windgrove as wg
from tree_files import AXIS, BRANCH, COUNT, END, LENGTH, ORDER, PARENT, RADIUS, START


def read(content, **options):
    return wg.read_tree(io.BytesIO(content), **options)


def is_the_small_tree(tree, rtol=1e-9):
    assert len(tree) == len(files.BRANCH_LENGTH)
    assert_allclose(np.sort(tree.length), np.sort(files.BRANCH_LENGTH), rtol=rtol)
    assert_allclose(np.sort(tree.volume), np.sort(files.BRANCH_VOLUME), rtol=rtol)


def kinds(tree):
    return [repair.kind for repair in tree.report.repairs]


def points():
    first = [*START[0], RADIUS[0], -1]
    later = [[*END[i], RADIUS[i], PARENT[i] + 1] for i in range(COUNT)]
    return [[files.plain(value) for value in point] for point in [first, *later]]


def test_a_tree_file_that_treeinfo_analysed_is_no_table():
    """Its fields `bend` and `length` are words of tables, too: `bend` holds an end."""
    of_tree = "height,crown_radius,dimension,monocotal,DBH,bend,branch_slope, "
    fields = "x,y,z,radius,parent_id,volume,diameter,length,strength,dominance,angle,bend,children"
    segments = ", ".join(",".join(map(str, point + [1] * 8)) for point in points())
    content = f"# Tree file\n{of_tree}{fields}\n3.5,1,2.1,0.3,0.2,0,0.4, {segments}\n".encode()
    tree = read(content)
    assert tree.report.format == "raycloud"
    assert tree.report.attributes["bend"] == 0 and tree.report.attributes["height"] == 3.5
    is_the_small_tree(tree)


def test_a_mesh_with_a_tube_for_each_cylinder_has_its_branches():
    """As QSM-blocks and rTwig draw models. 1e-6: nine digits of a vertex, radii of millimetres."""
    lines, faces, count = [], [], 1
    for i in range(COUNT):
        ring, triangles = files.tube([START[i], END[i]], [RADIUS[i]] * 2, sides=6)
        lines += ["v {:.12f} {:.12f} {:.12f}".format(*vertex) for vertex in ring]
        faces += ["f {} {} {}".format(*(corner + count for corner in face)) for face in triangles]
        count += len(ring)
    tree = read("\n".join(lines + faces).encode())
    is_the_small_tree(tree, rtol=1e-6)
    assert kinds(tree)[0] == "a-tube-a-cylinder"


def test_stems_of_one_cylinder_each_are_held_together():
    lines, faces, count = [], [], 1
    for end in ((0, 0, 1.0), (0.5, 0, 1.0)):
        ring, triangles = files.tube([np.zeros(3), np.array(end)], [0.1, 0.1])
        lines += ["v {:.12f} {:.12f} {:.12f}".format(*vertex) for vertex in ring]
        faces += ["f {} {} {}".format(*(corner + count for corner in face)) for face in triangles]
        count += len(ring)
    tree = read("\n".join(lines + faces).encode())
    assert len(tree) == 2 and {"a-tube-a-cylinder", "several-stems"} <= set(kinds(tree))


def test_a_mesh_closed_at_both_ends_is_refused_with_the_reason():
    ring, triangles = files.tube([START[0], END[0]], [0.1, 0.1], sides=6)
    triangles += [(i, (i + 1) % 6, 12) for i in range(6)]
    triangles += [(6 + i, 6 + (i + 1) % 6, 13) for i in range(6)]
    lines = ["v {} {} {}".format(*vertex) for vertex in [*ring, START[0], END[0]]]
    lines += ["f {} {} {}".format(*(corner + 1 for corner in face)) for face in triangles]
    with pytest.raises(wg.TreeFormatError, match=r"1 piece\(s\) are none, or closed at both ends"):
        read("\n".join(lines).encode())


def digitised(*, tops=True, lengths=True):
    """A graph with the top of every vertex, as L-Py writes a mesh's turtle, and its length."""
    names = ["XX", "YY", "ZZ", "radius", *(["length"] if lengths else [])]
    head = files.MTG_HEAD.replace("diameter_cm", "length").replace("note\tSTRING", "radius\tREAL")
    rows = ["TOPO" + "\t" * 4 + "\t".join(names), "/P1/A1"]
    codes = [("^/S1", 0, 0), ("+S4", 3, 1), ("+S6", 5, 2), ("^<S5", 4, 1), ("^<S2", 1, 0),
             ("+S7", 6, 1), ("^<S3", 2, 0)]  # fmt: skip
    for code, i, depth in codes:
        length = LENGTH[i] if tops else 3 * LENGTH[i]
        cells = [*END[i], RADIUS[i], *([length] if lengths else [])]
        rows.append("\t" * depth + code + "\t" * (4 - depth) + "\t".join(map(str, cells)))
    return (head + "\n".join(rows) + "\n").encode()


def test_the_first_vertex_of_a_graph_of_tops_stands_on_its_length():
    """Without it a metre of the trunk would be missing, and nothing would say so."""
    tree = read(digitised(), units="m,m")
    is_the_small_tree(tree)
    assert kinds(tree)[0] == "foot"
    assert_allclose(tree.position[0], 0, atol=1e-12)
    assert_allclose(tree.offset, 0, atol=1e-12)
    with pytest.raises(wg.TreeFormatError, match=r"1 first vertices stand on no point.*strict"):
        read(digitised(), units="m,m", strict=True)


@pytest.mark.parametrize("shape", [{"lengths": False}, {"tops": False}])
def test_lengths_that_points_do_not_show_move_no_point(shape):
    tree = read(digitised(**shape), units="m,m")
    assert "foot" not in kinds(tree)
    assert_allclose(tree.length[0], LENGTH[[1, 2]].sum())


def swc():
    rows = [[i + 1, 3, *point[:4], point[4] + 1 or -1] for i, point in enumerate(points())]
    rows[0][-1] = -1
    return "".join(" ".join(map(str, row)) + "\n" for row in rows).encode()


def test_columns_without_a_header_are_named_in_their_order():
    tree = read(b"# a skeleton\n" + swc(), columns="id type x y z radius parent")
    is_the_small_tree(tree)
    is_the_small_tree(read(swc(), columns="id, type, x, y, z, radius, parent"))
    with pytest.raises(wg.TreeFormatError, match="has 7 columns, columns= names 3: id, x, y"):
        read(swc(), columns="id x y")
    with pytest.raises(wg.TreeFormatError, match="has a header: columns= maps names"):
        read(files.minimal(), columns="id parent x y z radius")


def test_tables_of_bare_numbers_are_named_by_their_width():
    with pytest.raises(wg.TreeFormatError, match=r"SWC.*columns='id type x y z radius parent'"):
        read(swc())
    rows = np.column_stack([BRANCH + 1, START, AXIS, LENGTH, RADIUS])
    drawn = "".join("{:.0f} {} {} {} {} {} {} {} {}\n".format(*row) for row in rows).encode()
    with pytest.raises(wg.TreeFormatError, match=r"QSM-blender-addons .* names no parents"):
        read(drawn)
    with pytest.raises(wg.TreeFormatError, match=r"10 number.s. a line .* columns= names those"):
        read("".join(f"{' '.join(map(str, [*row, 0]))}\n" for row in rows).encode())


@pytest.mark.parametrize("order", ["fields-15", "saved-17"])
def test_orders_of_treeqsm_are_asked_for_as_before(order):
    assert len(read(files.treeqsm_text(order), columns=order)) == ORDER.max() + 2


def models(*inputs):
    """A struct array of models, each with what its run was told."""
    records = np.empty((1, len(inputs)), dtype=[(name, object) for name in files.model()])
    for i, given in enumerate(inputs):
        model = files.model() | {"rundata": {"version": "2.4.1", "inputs": given}}
        for name, value in model.items():
            records[name][0, i] = value
    return files.mat({"OptQSM": records})


def test_optimal_models_of_several_trees_are_trees_and_not_alternatives():
    """TreeQSM keeps the best model of every tree in one array, as it keeps models of one tree."""
    content = models({"name": "oak1", "tree": 1}, {"name": "oak2", "tree": 2})
    assert kinds(read(content))[0] == "several-trees"
    assert len(read(content, roots="all")) == 2 * len(files.BRANCH_LENGTH)
    same = models({"name": "oak1", "tree": 1, "model": 1}, {"name": "oak1", "tree": 1, "model": 2})
    assert kinds(read(same))[0] == "several-models"
    assert len(read(same, roots="all")) == len(files.BRANCH_LENGTH)


def test_an_array_without_any_model_says_that_the_runs_failed():
    empty = np.empty((0, 0), dtype=[(name, object) for name in files.model()])
    with pytest.raises(wg.TreeFormatError, match="its QSMs holds no model: an empty struct array"):
        read(files.mat({"QSMs": empty}))


def columns():
    """TreeQSM's columns with one a coordinate, as aRchi2treeQSM has them."""
    triples = {**files.xyz("start", START), **files.xyz("axis", AXIS)}
    single = {
        "radius": RADIUS, "length": LENGTH, "parent": PARENT + 1, "extension": files.EXTENSION,
        "branch": BRANCH + 1, "BranchOrder": ORDER, "PositionInBranch": files.POSITION,
    }  # fmt: skip
    return {name: np.asarray(values)[:, None] for name, values in {**single, **triples}.items()}


@pytest.mark.parametrize(
    "variables",
    [
        columns(),
        {"qsm": columns()},
        {"QSM": {"cylinder": columns()}},
        {"qsm": {"cylinder": {k.upper(): v for k, v in files.cylinder_struct().items()}}},
    ],
    ids=["variables", "struct", "cylinder", "upper case"],
)
def test_a_data_frame_written_as_matlab_file_is_a_model(variables):
    is_the_small_tree(read(files.mat(variables)))


def test_a_model_in_unsigned_64_bits_and_logicals_is_read():
    """As SmartQSM writes it: uint64 numbers, float32 sizes, no SurfCov."""
    cylinder = files.cylinder_struct(np.float32) | {
        name: files.cylinder_struct()[name].astype(np.uint64)
        for name in ("parent", "extension", "branch", "BranchOrder", "PositionInBranch")
    }
    cylinder |= {"added": (ORDER > 9)[:, None], "simplified": (ORDER > 9)[:, None]}
    del cylinder["SurfCov"], cylinder["mad"]
    run = {"target_ply": "a_branches.ply", "hash": "d41d8cd9", "projection": ""}
    # 1e-6: sizes are float32.
    is_the_small_tree(read(files.mat({"QSM": {"cylinder": cylinder, "rundata": run}})), rtol=1e-6)


@pytest.mark.parametrize("tip", [-1, 0])
@pytest.mark.parametrize("kind", ["mat", "text"])
def test_a_port_of_treeqsm_that_counts_rows_from_zero_is_read_so(kind, tip):
    """Roots are -1; a tip's extension is -1, or stays 0 where only parents were moved."""
    extension = np.where(files.EXTENSION > 0, files.EXTENSION - 1, tip)
    if kind == "mat":
        cylinder = files.cylinder_struct() | {
            "parent": PARENT[:, None].astype(np.int32), "extension": extension[:, None],
            "branch": BRANCH[:, None],
        }  # fmt: skip
        content = files.mat({"QSM": {"cylinder": cylinder}})
    else:
        head, *rows = files.treeqsm_text_header().decode().splitlines()
        cells = [row.split("\t") for row in rows]
        for i, row in enumerate(cells):
            row[8:11] = f"{PARENT[i]:.1f}", f"{extension[i]:.1f}", f"{BRANCH[i]:.1f}"
        content = "\n".join([head, *("\t".join(row) for row in cells)]).encode()
    tree = read(content)
    is_the_small_tree(tree)
    assert "from-zero" in kinds(tree)


def test_a_table_in_a_matlab_file_is_named_as_what_it_is():
    """An object of a class as MATLAB saves it: flags, its name, the system, the class, a number."""

    def element(kind, content):
        return struct.pack("<II", kind, len(content)) + content.ljust(-(-len(content) // 8) * 8)

    words = b"".join(element(1, word) for word in (b"cylinders", b"MCOS", b"table"))
    body = element(6, struct.pack("<II", 17, 0)) + words + element(6, bytes(8))
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
    with pytest.raises(wg.TreeFormatError, match=r"classes \(cylinders\).* table2struct"):
        read(header + element(14, body))
