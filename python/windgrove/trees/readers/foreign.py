"""Files that are surely something else: what they are, and what to do about it."""

from __future__ import annotations

import re
import struct

_SPREADSHEET = "a spreadsheet ({}): save the sheet with the cylinders as CSV"
_POINTS = "a point cloud ({}): a tree has to be reconstructed from it first"
_PACKED = "a {} archive: unpack it"
_TWICE = "packed more than once: unpack it"
_BEGINS: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _SPREADSHEET.format("Excel .xls or other Office file")),
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG\r\n", "an image (PNG)"),
    (b"\xff\xd8\xff", "an image (JPEG)"),
    (b"GIF8", "an image (GIF)"),
    (b"RDX2\n", "R's .RData: write the cylinders as CSV (write.csv)"),
    (b"RDX3\n", "R's .RData: write the cylinders as CSV (write.csv)"),
    (b"X\n\x00\x00\x00", "R's .rds: write the cylinders as CSV (write.csv)"),
    (b"# Created by Octave", "Octave's own text: save -v7 writes a .mat file"),
    (b"Octave-1-", "Octave's own binary: save -v7 writes a .mat file"),
    (b"LASF", _POINTS.format("LAS or LAZ")),
    (b"ASTM-E57", _POINTS.format("E57")),
    (b"\x93NUMPY", "a NumPy array (.npy): a table of CSV names its columns"),
    (b"PAR1", "a Parquet table: write it as CSV"),
    (b"SQLite format 3\x00", "an SQLite database: write the table of cylinders as CSV"),
    (b"7z\xbc\xaf'\x1c", _PACKED.format("7z")),
    (b"Rar!\x1a\x07", _PACKED.format("RAR")),
    (b"\x1f\x8b", _TWICE),
    (b"BZh", _TWICE),
    (b"\xfd7zXZ\x00", _TWICE),
    (b"PK\x03\x04", _TWICE),
    (b"\x28\xb5\x2f\xfd", "packed by zstd: unpack it"),
    (b"glTF\x02\x00\x00\x00", "a scene of meshes (glTF)"),
    (b"Kaydara FBX Binary", "a scene of meshes (FBX)"),
    (b"BLENDER-v", "a Blender scene"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file: git lfs pull gets it"),
)  # fmt: skip
_ANNEX = re.compile(rb"\s*(?:[\w./-]*\.git)?/?annex/objects/\S+\s*$")


def what_it_is(raw: bytes) -> str | None:
    """What a file is that no reader reads, as the end of a sentence that begins "is"."""
    for mark, what in _BEGINS:
        if raw.startswith(mark):
            return what
    head = raw[:2000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if raw[257:262] == b"ustar":
        return _PACKED.format("tar")
    if re.match(rb"ply\r?\n\s*format\s", head):
        return "a mesh or point cloud (PLY): cylinders are in another file of the tool that made it"
    if re.match(rb"<!doctype\s+html|<html|<head", head, re.I):
        return "a web page (HTML), as a download that failed leaves it: fetch the file itself"
    if head.startswith(b"<?xml"):
        return "XML, which no format of trees here is"
    if raw[:1] == b"\x80" and raw[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05") and raw[-1:] == b".":
        return "a Python pickle, which is never opened: write the cylinders as CSV"
    if len(raw) < 1000 and _ANNEX.match(raw):
        return "a git-annex link, not the file: git annex get fetches it"
    if _is_matlab_4(raw):
        return "a MATLAB 4 file: save -v7 writes one that holds structs"
    return None


def _is_matlab_4(raw: bytes) -> bool:
    """Its header: type, rows, columns, imaginary part, length of the name; then the name."""
    for order in "<>":
        if len(raw) < 24:
            return False
        kind, rows, columns, imaginary, size = struct.unpack(order + "5i", raw[:20])
        name = raw[20 : 20 + min(max(size, 1), 65)]
        if (
            kind in (0, 10, 20, 30, 40, 50, 1000, 1010, 1020, 1030, 1040, 1050)
            and min(rows, columns) > 0
            and imaginary in (0, 1)
            and re.fullmatch(rb"[A-Za-z]\w*\x00", name)
        ):
            return True
    return False
