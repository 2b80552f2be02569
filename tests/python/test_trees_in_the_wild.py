"""Tables as people save them again, packed files, and files that are something else."""

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile

import numpy as np
import pytest

import tree_files as files
import windgrove as wg

TABLES = {
    name: make
    for name, (make, _, _) in files.SAME.items()
    if name.startswith(("simpleforest", "computree", "archi", "rtwig", "minimal", "nodes"))
}


def lines_of(content):
    text = content.decode()
    delimiter = next(d for d in "\t;," if d in text.splitlines()[-1])
    return delimiter, [line.split(delimiter) for line in text.splitlines()]


def joined(delimiter, lines, end="\n"):
    return (end.join(delimiter.join(line) for line in lines) + end).encode()


def again(change):
    """A variant that changes the lines of cells."""

    def make(content):
        delimiter, lines = lines_of(content)
        return joined(delimiter, change(lines))

    return make


def bars(content):
    return joined("|", [[cell.strip() for cell in line] for line in lines_of(content)[1]])


def bars_and_decimal_commas(content):
    return bars(content).replace(b".", b",")


def empty_lines(lines):
    hollow = [""] * len(lines[0])
    return [hollow, *lines[:3], hollow, *lines[3:], hollow, hollow]


def shuffled(lines):
    order = np.random.default_rng(3).permutation(len(lines[0]))
    return [[line[i] for i in order] for line in lines]


def numbered_by_x(lines):
    """R reads its own unnamed row names as a column X."""
    return [["X", *lines[0]], *([str(i), *line] for i, line in enumerate(lines[1:], start=1))]


def remarks(lines):
    return [[*lines[0], "remark"], *([*line, '"broken, see 3; again"'] for line in lines[1:])]


VARIANTS = {
    "bars": bars,
    "bars and decimal commas": bars_and_decimal_commas,
    "carriage returns": lambda content: content.replace(b"\n", b"\r"),
    "NULs behind": lambda content: content + b"\0" * 10,
    "DOS end of file": lambda content: content + b"\x1a",
    "empty delimiters in the header": again(lambda lines: [[*lines[0], "", ""], *lines[1:]]),
    "lines of empty cells": again(empty_lines),
    "comment in the middle": again(lambda lines: [*lines[:3], ["# checked"], *lines[3:]]),
    "comment behind": lambda content: content + b"# end of file, 7; rows\n",
    "title": lambda content: b"QSM of tree 7\n" + content,
    "sep line": lambda content: f"sep={lines_of(content)[0]}\n".encode() + content,
    "quoted cells with delimiters": again(remarks),
    "columns in another order": again(shuffled),
    "row names called X": again(numbered_by_x),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": lambda content: zipped({"tree.csv": content, "__MACOSX/._tree.csv": b"\0"}),
}


def zipped(members):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


def tarred(content):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        info = tarfile.TarInfo("tree.csv")
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return target.getvalue()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_saved_again_is_the_same_tree(name, variant):
    content = TABLES[name]()
    expected = wg.read_tree(io.BytesIO(content))
    tree = wg.read_tree(io.BytesIO(VARIANTS[variant](content)))
    assert tree.report.format == expected.report.format
    np.testing.assert_array_equal(tree.parent, expected.parent)
    np.testing.assert_allclose(tree.position, expected.position, atol=1e-12)
    np.testing.assert_allclose(tree.volume, expected.volume, rtol=1e-12)


@pytest.mark.parametrize(
    "name", [name for name in TABLES if "36" not in name and name[0] not in "c"]
)
def test_a_header_in_a_comment_as_numpy_writes_it_is_the_header(name):
    content = TABLES[name]()
    if content.startswith(b","):
        pytest.skip("R's row names have no name that a comment could hold")
    tree = wg.read_tree(io.BytesIO(b"# " + content))
    np.testing.assert_array_equal(tree.volume, wg.read_tree(io.BytesIO(content)).volume)


def test_rows_are_counted_without_comments_and_empty_lines():
    lines = ["id,parent,sx,sy,sz,ex,ey,ez,radius", "1,0,0,0,0,0,0,1,0.1", "# half way", ",,,,,,,,",
             "2,1,0,0,1,0,0,2,none at all"]  # fmt: skip
    with pytest.raises(wg.TreeFormatError, match="row 1: column radius: 'none at all'"):
        wg.read_tree(io.BytesIO("\n".join(lines).encode()))


def test_what_printf_makes_of_no_number_is_no_number():
    rows = b"id,parent,sx,sy,sz,ex,ey,ez,radius\n1,0,0,0,0,0,0,1,0.1\n2,1,0,0,1,0,0,2,-nan(ind)\n"
    with pytest.raises(wg.TreeFormatError, match="row 1: the radius is not a number"):
        wg.read_tree(io.BytesIO(rows))
    assert len(wg.read_tree(io.BytesIO(rows), bad_rows="drop").segments.length) == 1


def test_two_columns_of_one_name_stay_with_their_neighbours():
    """The far "x" is the point's, since it stands beside y and z."""
    rows = b"x,id,parent,x,y,z,radius\n9,1,0,0,0,0,0.1\n8,2,1,0,0,1,0.1\n7,3,2,0,1,1,0.1\n"
    tree = wg.read_tree(io.BytesIO(rows))
    assert tree.segments.length.sum() == pytest.approx(2.0)


def several(column, names):
    header, *rows = files.minimal().decode().splitlines()
    lines = [f"{column},{header}"]
    lines += [f"{name},{row}" for name in names for row in rows]
    return "\n".join(lines).encode()


@pytest.mark.parametrize("column", ["tree_id", "TreeID", "tree name", "Tree"])
@pytest.mark.parametrize("names", [(7, 12), ("north oak", "south oak"), (0, 1, 2)])
def test_a_column_of_trees_tells_trees_apart(column, names):
    content = several(column, names)
    trees = wg.read_trees(io.BytesIO(content))
    expected = wg.read_tree(io.BytesIO(files.minimal()))
    assert len(trees) == len(names)
    for tree in trees:
        np.testing.assert_array_equal(tree.volume, expected.volume)
    whole = wg.read_tree(io.BytesIO(content), roots="all")
    assert whole.volume.sum() == pytest.approx(len(names) * expected.volume.sum())
    told = [repair.kind for repair in wg.read_tree(io.BytesIO(content)).report.repairs]
    assert "several-trees" in told


def test_a_bad_row_of_one_tree_is_named_by_tree_and_row_of_the_file():
    content = several("tree_id", ("first", "second"))
    lines = content.decode().splitlines()
    lines[-1] = lines[-1].rsplit(",", 1)[0] + ",thick"
    with pytest.raises(wg.TreeFormatError, match=r"tree second\): row 13: column RADIUS: 'thick'"):
        wg.read_trees(io.BytesIO("\n".join(lines).encode()))


def test_segments_whose_rows_are_not_together_are_refused():
    content = files.computree_segments()
    header, *rows = content.decode().splitlines()
    twice = "\n".join([header, *rows, *rows]).encode()
    with pytest.raises(wg.TreeFormatError, match="row 7: segment 0 goes on after rows of others"):
        wg.read_tree(io.BytesIO(twice))


FOREIGN = {
    "Git LFS": (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n", "LFS"),
    "git-annex": (b"../.git/annex/objects/xW/4q/SHA256E-s12--ab.mat", "git-annex"),
    "web page": (b"\n<!DOCTYPE html>\n<html><head></head></html>", "web page"),
    "XML": (b'<?xml version="1.0"?>\n<rsml/>', "is XML"),
    "xlsx": (zipped({"[Content_Types].xml": b"", "xl/workbook.xml": b""}), "spreadsheet"),
    "ods": (zipped({"mimetype": b"", "content.xml": b""}), "spreadsheet"),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "spreadsheet"),
    "rds": (gzip.compress(b"X\n\0\0\0\3" + bytes(30)), r"\.rds"),
    "RData": (gzip.compress(b"RDX3\nX\n\0\0\0\3"), r"\.RData"),
    "LAS": (b"LASF" + bytes(300), "point cloud"),
    "PLY": (b"ply\nformat ascii 1.0\nelement vertex 1\n", "PLY"),
    "NumPy": (b"\x93NUMPY\x01\x00", "NumPy"),
    "pickle": (b"\x80\x04}\x94.", "pickle"),
    "Parquet": (b"PAR1" + bytes(20), "Parquet"),
    "two in a zip": (zipped({"a.csv": b"1", "b.csv": b"2"}), r"zip archive of 2 files \(a.csv, b"),
    "tar": (tarred(b"id,parent\n"), "tar archive"),
    "packed twice": (gzip.compress(gzip.compress(b"id,parent\n")), "more than once"),
    "cut xz": (lzma.compress(files.minimal())[:-20], "xz data is broken"),
    "cut bzip2": (bz2.compress(files.minimal())[:-20], "bzip2 data is broken"),
    "cut zip": (zipped({"a.csv": files.minimal()})[:-20], "zip data is broken"),
    "MATLAB 4": (np.array([0, 3, 1, 0, 4], "<i4").tobytes() + b"Rad\0" + bytes(24), "MATLAB 4"),
    "Octave text": (b"# Created by Octave 6.4.0, Mon\n# name: QSM\n", "Octave's own text"),
    "mark only": (b"\xef\xbb\xbf", "is empty"),
    "branch table": (b"0\t0\t12\t3\t0\t1\t30\t0.1\n1\t1\t1\t0.4\t45\t2\t90\t0.02\n", "8 number"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_another_kind_is_named(name):
    content, match = FOREIGN[name]
    with pytest.raises(wg.TreeFormatError, match=match):
        wg.read_tree(io.BytesIO(content))


def test_the_content_itself_is_no_path():
    with pytest.raises(TypeError, match=r"io\.BytesIO"):
        wg.read_tree(files.minimal())


def test_a_packed_file_is_limited(monkeypatch):
    from windgrove.trees.readers import source

    monkeypatch.setattr(source, "MAX_BYTES", 5000)
    plain = b"1,2,3\n" * 5000
    packed = (gzip.compress(plain), bz2.compress(plain), lzma.compress(plain),
              zipped({"a.csv": plain}))  # fmt: skip
    for content in packed:
        with pytest.raises(wg.TreeFormatError, match="unpacks to more than 5000 bytes"):
            wg.read_tree(io.BytesIO(content))


def cylinders(start, axis, **columns):
    return {**files.xyz(*start), **files.xyz(*axis), **columns}


def test_treeqsm_columns_under_other_peoples_names():
    """One name a column, as MATLAB's writetable, rTwig and scripts of others have them."""
    rest = {"parent": files.PARENT + 1, "extension": files.EXTENSION, "branch": files.BRANCH + 1}
    start, axis, number = files.START, files.AXIS, ("1", "2", "3")
    low = ("x", "y", "z")
    for columns in (
        {"radius_m": files.RADIUS, "length_m": files.LENGTH,
         **cylinders(("start_", start), ("axis_", axis), **rest)},
        {"radius": files.RADIUS, "length": files.LENGTH,
         **cylinders(("start_", start, number), ("axis_", axis, number), **rest)},
        {"radius": files.RADIUS, "length": files.LENGTH,
         **cylinders(("start.", start, low), ("axis.", axis, low), **rest)},
    ):  # fmt: skip
        tree = wg.read_tree(io.BytesIO(files.table(columns, delimiter="\t")))
        assert tree.report.format == "treeqsm-text"
        np.testing.assert_allclose(tree.volume, files.BRANCH_VOLUME)
        np.testing.assert_array_equal(tree.parent, files.BRANCH_PARENT)


def test_treeqsm_columns_with_another_unit_are_not_read_as_metres():
    columns = {"radius_mm": files.RADIUS * 1e3, "length_m": files.LENGTH,
               "parent": files.PARENT + 1,
               **cylinders(("start_", files.START), ("axis_", files.AXIS)),
               "extension": files.EXTENSION}  # fmt: skip
    content = files.table(columns)
    np.testing.assert_allclose(
        wg.read_tree(io.BytesIO(content)).volume.sum(), files.VOLUME.sum(), rtol=1e-12
    )
    with pytest.raises(wg.TreeFormatError, match="a unit that is not m"):
        wg.read_tree(io.BytesIO(content), format="treeqsm-text")


def test_simpleforest_of_2019_writes_a_column_that_its_header_does_not_name():
    head, *rows = files.simpleforest_36().decode().splitlines()
    names = [name.strip() for name in head.split(",")]
    gap = names.index("segmentGrowthLength")
    rows = [",".join([*(c := row.split(","))[:gap], "0.5", *c[gap:]]) for row in rows]
    tree = wg.read_tree(io.BytesIO("\n".join([head, *rows]).encode()))
    np.testing.assert_allclose(tree.volume, files.BRANCH_VOLUME)
    assert "orders-differ" not in [repair.kind for repair in tree.report.repairs]


def test_treegraph_axes_that_point_outwards_are_refused():
    columns = files.treegraph_columns()
    for name in ("ax", "ay", "az"):
        columns[name] = -columns[name]
    with pytest.raises(wg.TreeFormatError, match="row 1: does not lead to the node below"):
        wg.read_tree(io.BytesIO(files.treegraph_json(columns)))


def test_treegraph_cylinders_that_were_left_out_are_told():
    columns = {name: np.delete(v, 3) for name, v in files.treegraph_columns().items()}
    content = files.treegraph_json(columns)
    with pytest.raises(wg.TreeFormatError, match=r"row 3: 2 row\(s\) name a parent"):
        wg.read_tree(io.BytesIO(content))
    tree = wg.read_tree(io.BytesIO(content), missing_parents="roots", roots="all")
    assert tree.volume.sum() == pytest.approx(files.VOLUME.sum() - files.VOLUME[3])


def test_two_treegraph_branches_from_the_lowest_node_are_one_tree():
    columns = files.treegraph_columns()
    columns["p2"][6] = 150.0
    away = files.END[6] - files.START[0]
    columns["length"][6] = size = np.linalg.norm(away)
    for name, value in zip(("ax", "ay", "az"), -away / size, strict=True):
        columns[name][6] = value
    tree = wg.read_tree(io.BytesIO(files.treegraph_json(columns)))
    assert (tree.parent < 0).sum() == 1
    added = np.pi * files.RADIUS[6] ** 2 * (size - files.LENGTH[6])
    assert tree.volume.sum() == pytest.approx(files.VOLUME.sum() + added)


@pytest.mark.parametrize(
    "lines",
    [
        ["x,y,z,radius,parent_id", "0,0,0,0.1,-1, 0,0,1,0.1,0", "9,9,0,0.2"],
        ["x,y,z,radius,parent_id,red", "0,0,0,0.1,-1,7, 0,0,1,0.1,0,7", "9,9,0,0.2,7"],
        ["x,y,z,radius,tall x,y,z,radius,parent_id", "0,0,0,0.1,3, 0,0,1,0.1,0", "9,9,0,0.2,3"],
        ["tall, x,y,z,radius,parent_id", "3, 0,0,0,0.1,-1, 0,0,1,0.1,0", "3, 9,9,0,0.2"],
    ],
)
def test_a_lone_trunk_position_does_not_stop_the_other_trees(lines):
    """raycloudtools leaves the field parent_id out where a tree has one segment."""
    content = "\n".join(["# Tree file:", *lines]).encode()
    tree = wg.read_tree(io.BytesIO(content))
    assert tree.volume.sum() == pytest.approx(np.pi * 0.01)
    with pytest.raises(wg.TreeFormatError, match=r"tree 1, line 4\): is a tree of one segment"):
        wg.read_tree(io.BytesIO(content), model=1)


def test_a_comment_that_repeats_the_header_of_a_tree_file_is_no_table():
    content = b"# written by us: x,y,z,radius,parent_id\nx,y,z,radius,parent_id\n" + files.raycloud(
        "bare"
    )
    np.testing.assert_allclose(wg.read_tree(io.BytesIO(content)).volume, files.BRANCH_VOLUME)


def mesh(branches):
    vertices, faces = [], []
    for points, radii in branches:
        ring, triangles = files.tube([np.array(p, float) for p in points], radii)
        faces += [[corner + len(vertices) + 1 for corner in face] for face in triangles]
        vertices += ring
    lines = ["v {:.10f} {:.10f} {:.10f}".format(*vertex) for vertex in vertices]
    lines += ["f {} {} {}".format(*face) for face in faces]
    return "\n".join(["# OBJ exported from Easy3D", *lines]).encode()


def test_stems_of_a_mesh_that_rise_from_one_foot_are_one_tree():
    trunk = ([(0, 0, 0), (0, 0, 1), (0, 0, 2)], [0.2, 0.18, 0.15])
    stem = ([(0, 0, 0), (0.5, 0, 1), (1, 0, 2)], [0.1, 0.09, 0.08])
    tree = wg.read_tree(io.BytesIO(mesh([stem, trunk])))
    assert "several-stems" in [repair.kind for repair in tree.report.repairs]
    np.testing.assert_array_equal(tree.parent, [-1, 0])
    np.testing.assert_allclose(tree.position, 0, atol=1e-6)
    np.testing.assert_allclose(tree.length, [2, 2 * np.sqrt(1.25)], rtol=1e-6)


def test_vertices_of_a_mesh_without_faces_are_told():
    content = mesh([([(0, 0, 0), (0, 0, 1)], [0.2, 0.18])])
    lone = content.replace(b"\nf ", b"\nv 1 1 1\nv 1 2 1\nf ", 1)
    kinds = [repair.kind for repair in wg.read_tree(io.BytesIO(lone)).report.repairs]
    assert kinds == ["no-faces"]


def test_a_preset_of_the_first_ez_tree_is_named():
    content = (b'{"seed": 1, "trunk": {"length": 25}, "branch": {"levels": 4, "children": 5,'
               b' "gnarliness": 0.3, "lengthMultiplier": 0.8}}')  # fmt: skip
    with pytest.raises(wg.TreeFormatError, match="first versions of ez-tree"):
        wg.read_tree(io.BytesIO(content))


def test_variables_of_treeqsm_2_0_in_a_struct_are_a_model():
    flat = {"Rad": files.RADIUS[:, None], "Len": files.LENGTH[:, None], "Sta": files.START,
            "Axe": files.AXIS, "CPar": files.PARENT[:, None] + 1,
            "CExt": files.EXTENSION[:, None]}  # fmt: skip
    tree = wg.read_tree(io.BytesIO(files.mat({"QSM": flat})))
    np.testing.assert_allclose(tree.volume.sum(), files.VOLUME.sum())


def test_an_empty_model_before_others_is_passed_over():
    empty = {"cylinder": {name: v[:0] for name, v in files.cylinder_struct().items()}}
    tree = wg.read_tree(io.BytesIO(files.mat({"A": empty, "B": files.model()})))
    np.testing.assert_allclose(tree.volume, files.BRANCH_VOLUME)
    assert "number 1 was taken" in tree.report.repairs[-1].message


def test_a_preset_saved_with_pictures_of_its_bark_is_found():
    """The generator's page writes all options, textures as base64 text among them."""
    preset = json.loads(files.ez_tree())
    saved = {"seed": 3, "bark": {"maps": {"color": "data:image/png;base64," + "iVBO" * 50_000}},
             **preset}  # fmt: skip
    tree = wg.read_tree(io.BytesIO(json.dumps(saved).encode()))
    np.testing.assert_array_equal(tree.volume, wg.read_tree(io.BytesIO(files.ez_tree())).volume)


def test_a_preset_with_lists_of_levels_is_the_same_and_a_trellis_is_told():
    preset = json.loads(files.ez_tree())
    branch = preset["branch"]
    for name in ("length", "radius", "sections", "segments", "taper", "twist", "gnarliness"):
        branch[name] = [branch[name][str(level)] for level in range(3)]
    preset["trellis"] = {"enabled": True, "width": 20}
    tree = wg.read_tree(io.BytesIO(json.dumps(preset).encode()))
    np.testing.assert_array_equal(tree.volume, wg.read_tree(io.BytesIO(files.ez_tree())).volume)
    assert "trellis" in [repair.kind for repair in tree.report.repairs]


def test_a_mesh_with_y_up_is_turned_and_told():
    def turned(line):
        x, y, z = line.split()[1:]
        return f"v {x} {z} {-float(y)!r}" if line.startswith("v ") else line

    lines = [turned(x) if x.startswith("v ") else x for x in files.rings().decode().splitlines()]
    content = "\n".join(lines).encode()
    tree, expected = wg.read_tree(io.BytesIO(content)), wg.read_tree(io.BytesIO(files.rings()))
    np.testing.assert_array_equal(tree.parent, expected.parent)
    np.testing.assert_allclose(tree.direction, expected.direction, atol=1e-6)
    assert "y-up" in [repair.kind for repair in tree.report.repairs]
    with pytest.raises(wg.TreeFormatError, match="y was taken as up"):
        wg.read_tree(io.BytesIO(content), strict=True)


@pytest.mark.parametrize("change", [
    lambda text: text.replace("\t", ";"),
    lambda text: "\n".join(",".join(f'"{c}"' if "," in c else c for c in line.split("\t"))
                           for line in text.split("\n")),
    lambda text: "\n".join("\t".join(f'"{c}"' if c else c for c in line.split("\t"))
                           for line in text.split("\n")),
    lambda text: text.replace("CODE:", "code:").replace("CLASSES", "Classes").replace("MTG", "Mtg"),
], ids=["semicolons", "commas", "quotes", "sections in other cases"])  # fmt: skip
def test_a_multiscale_graph_that_went_through_a_spreadsheet_is_the_same(change):
    content = change(files.mtg_points().decode()).encode()
    tree, expected = wg.read_tree(io.BytesIO(content)), wg.read_tree(io.BytesIO(files.mtg_points()))
    assert tree.report.format == "mtg"
    np.testing.assert_array_equal(tree.parent, expected.parent)
    np.testing.assert_array_equal(tree.volume, expected.volume)


@pytest.mark.parametrize("content", [b"\x0c", b"\x0c\n\x1c\n", b"\x0b,\n", b"{\x0c"])
def test_lines_without_any_cell_are_no_rows(content):
    with pytest.raises(wg.TreeFormatError):
        wg.read_tree(io.BytesIO(content))


def test_a_scale_in_digits_of_another_kind_is_refused_with_its_line():
    content = files.mtg_points().replace(b"S\t3\tFREE", "S\t\u00b3\tFREE".encode())
    with pytest.raises(wg.TreeFormatError, match="is no scale of class S"):
        wg.read_tree(io.BytesIO(content))


def test_a_zip_archive_with_a_file_without_a_name_is_refused():
    packed = zipped({"a": files.minimal()})
    at = packed.index(b"PK\x01\x02") + 28  # the length of the name in the central directory
    nameless = packed[:at] + b"\x00\x00" + packed[at + 2 :]
    with pytest.raises(wg.TreeFormatError, match="zip"):
        wg.read_tree(io.BytesIO(nameless))


@pytest.mark.parametrize(("header", "lacking"), [
    ("id,parent,radius,length", r"without start points \(.*\), end points, or axes and lengths;"),
    ("id,radius,sx,sy,sz,ex,ey,ez", "without parents;"),
    ("id,parent,radius,sx,sy,sz,ax,ay,az", "without end points, or axes and lengths;"),
])  # fmt: skip
def test_a_table_that_lacks_columns_is_told_which(header, lacking):
    content = f"{header}\n{','.join('1' for _ in header.split(','))}\n".encode()
    with pytest.raises(wg.TreeFormatError, match=lacking):
        wg.read_tree(io.BytesIO(content))


def test_a_file_of_all_tables_of_a_model_gives_its_cylinders():
    """As a generator of examples for MATLAB classes writes them: three tables under headings."""
    rows = files.treeqsm_text("saved-14").decode().replace("\t", " ")
    more = "# Branch data\n0 0 491.8 3.414 0 1.3\n# Tree data\n1.1 # Total volume\n"
    content = f"# Cylinder data\n{rows}{more}"
    tree = wg.read_tree(io.BytesIO(content.encode()))
    assert tree.report.version == "saved-14, no header"
    np.testing.assert_allclose(tree.volume, files.BRANCH_VOLUME)
    alone = wg.read_tree(io.BytesIO(f"# Cylinder data\n{rows}".encode()))
    np.testing.assert_array_equal(alone.volume, tree.volume)


def test_coordinates_and_vectors_place_cylinders():
    """Names of a MATLAB table from which metrics of architecture are computed."""
    low = ("x", "y", "z")
    columns = {"Radius": files.RADIUS, "Length": files.LENGTH,
               **{f"{k}_coord": files.START[:, i] for i, k in enumerate(low)},
               **{f"{k}_vector": files.AXIS[:, i] for i, k in enumerate(low)},
               "Parent_cyl": files.PARENT + 1, "Branch_id": files.BRANCH + 1,
               "Branch_order": files.ORDER}  # fmt: skip
    tree = wg.read_tree(io.BytesIO(files.table(columns)))
    np.testing.assert_allclose(tree.volume, files.BRANCH_VOLUME)
    np.testing.assert_array_equal(tree.parent, files.BRANCH_PARENT)


def test_coordinates_alone_are_points():
    content = b"id,parent,x_coord,y_coord,z_coord,radius\n1,0,0,0,0,0.1\n2,1,0,0,2,0.1\n"
    assert wg.read_tree(io.BytesIO(content)).length.sum() == 2.0


def test_cylinders_that_lead_from_tip_to_base_are_turned_round():
    """rTwig's standard table of a treegraph model starts at the outer ends."""
    low = ("_x", "_y", "_z")
    columns = {**files.xyz("start", files.END, low), **files.xyz("axis", -files.AXIS, low),
               **files.xyz("end", files.START, low), "id": np.arange(files.COUNT) + 1,
               "parent": files.PARENT + 1, "radius": files.RADIUS, "raw_radius": files.RADIUS,
               "length": files.LENGTH, "branch": files.BRANCH + 1,
               "branch_order": files.ORDER, "growth_length": files.GROWN}  # fmt: skip
    content = files.table(columns)
    tree = wg.read_tree(io.BytesIO(content))
    expected = wg.read_tree(io.BytesIO(files.rtwig()))
    assert tree.report.format == "rtwig"
    assert "turned-round" in [repair.kind for repair in tree.report.repairs]
    np.testing.assert_allclose(tree.position, expected.position, atol=1e-12)
    np.testing.assert_allclose(tree.direction, expected.direction, atol=1e-12)
    with pytest.raises(wg.TreeFormatError, match="from tip to base"):
        wg.read_tree(io.BytesIO(content), strict=True)


def struct_columns():
    return {"radius": files.RADIUS, "length": files.LENGTH,
            **cylinders(("start_", files.START), ("axis_", files.AXIS)),
            "parent": files.PARENT + 1, "extension": files.EXTENSION,
            "branch": files.BRANCH + 1}  # fmt: skip


def test_treeqsm_columns_beside_ids_go_by_the_ids():
    columns = {"cyl_id": np.arange(files.COUNT) + 1, **struct_columns()}
    for order in ([0, 3, 4, 5, 6, 1, 2], [0, 1, 2, 3, 4, 6, 5]):
        moved = {name: np.asarray(values)[order] for name, values in columns.items()}
        tree = wg.read_tree(io.BytesIO(files.table(moved)))
        assert sorted(tree.volume) == pytest.approx(sorted(files.BRANCH_VOLUME))


@pytest.mark.parametrize("root", [-1, "", "nan"])
def test_treeqsm_columns_that_mark_the_root_otherwise_are_read(root):
    columns = struct_columns()
    if root == -1:
        columns |= {"parent": files.PARENT, "extension": files.EXTENSION - 1}
    else:
        columns["parent"] = [root, *map(str, files.PARENT[1:] + 1)]
    tree = wg.read_tree(io.BytesIO(files.table(columns)))
    np.testing.assert_allclose(tree.volume, files.BRANCH_VOLUME)
    np.testing.assert_array_equal(tree.parent, files.BRANCH_PARENT)


def test_treeqsm_columns_of_several_trees_are_told_apart():
    twice = {name: np.concatenate([v, v]) for name, v in struct_columns().items()}
    content = files.table({"tree": ["a"] * files.COUNT + ["b"] * files.COUNT, **twice})
    trees = wg.read_trees(io.BytesIO(content))
    assert len(trees) == 2
    np.testing.assert_allclose(trees[1].volume, files.BRANCH_VOLUME)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("root", ["", "0", "-1"])
def test_rows_without_ids_count_from_where_the_ends_meet(first, root):
    """A blank root says nothing of where parents count from, and 0 may be a row or none."""
    columns = struct_columns()
    del columns["extension"]
    columns["parent"] = [root, *map(str, files.PARENT[1:] + first)]
    tree = wg.read_tree(io.BytesIO(files.table(columns)))
    np.testing.assert_array_equal(tree.parent, files.BRANCH_PARENT)
    np.testing.assert_allclose(tree.volume, files.BRANCH_VOLUME)
