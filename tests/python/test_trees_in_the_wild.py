"""Tables as people save them again, packed files, and files that are something else."""

import bz2
import gzip
import io
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
