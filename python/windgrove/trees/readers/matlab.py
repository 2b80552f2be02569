"""MATLAB level 5 files: every size is checked against the bytes there are before it is used.

`scipy.io.loadmat` reads these files too, but a damaged one can crash the process in it, which no
caller can catch; a file from the net must not. Source: MathWorks, MAT-File Format, chapter 1.

Values are arrays of numbers or text; a struct array is a list of dicts, a cell array a tuple, in
column order. Sparse arrays, objects of classes and function handles are None.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from .source import MAX_BYTES

_TYPES = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
    16: "u1", 17: "u2", 18: "u4",
}  # fmt: skip
_CLASSES = {
    6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8",
}  # fmt: skip
_MATRIX, _COMPRESSED = 14, 15
_CELL, _STRUCT, _OBJECT, _CHAR, _OPAQUE = 1, 2, 3, 4, 17
_DEEPEST = 20


class MatlabError(ValueError):
    """A file that does not hold together."""


def load_level5(raw: bytes) -> dict[str, Any]:
    """Variables of a file by name. MatlabError where it is cut or damaged."""
    if len(raw) < 128 or raw[126:128] not in (b"IM", b"MI"):
        raise MatlabError("has no header of a level 5 file")
    order = "<" if raw[126:128] == b"IM" else ">"
    variables: dict[str, Any] = {}
    reader = _Reader(raw, 128, len(raw), order, MAX_BYTES // 2)
    while reader.left() >= 8:
        kind, body = reader.element(padded=False)
        if kind == _COMPRESSED:
            body = body.unpack()
            kind, body = body.element(padded=False)
        if kind != _MATRIX:
            raise MatlabError(f"holds an element of type {kind} where a variable should be")
        name, value = body.matrix(0)
        if name:  # the workspace of function handles has none
            variables[name] = value
    if reader.left():
        raise MatlabError("ends within an element")
    return variables


class _Reader:
    """A window on bytes; elements are taken from its front."""

    def __init__(self, data: bytes, begin: int, end: int, order: str, room: int) -> None:
        self.data, self.at, self.end, self.order, self.room = data, begin, end, order, room

    def left(self) -> int:
        return self.end - self.at

    def element(self, *, padded: bool = True) -> tuple[int, _Reader]:
        """Type and content of the next element, which is passed over."""
        if self.left() < 8:
            raise MatlabError("ends within an element")
        word, size = struct.unpack_from(self.order + "II", self.data, self.at)
        begin, step = self.at + 8, 8 + size
        if word >> 16:
            word, size, begin, step = word & 0xFFFF, word >> 16, self.at + 4, 8
            if size > 4:
                raise MatlabError("a short element claims more than 4 bytes")
        elif padded and word != _COMPRESSED:
            step += -size % 8
        if begin + size > self.end:
            raise MatlabError(f"an element of {size} bytes runs past the end")
        self.at = min(self.at + step, self.end)
        return word, _Reader(self.data, begin, begin + size, self.order, self.room)

    def unpack(self) -> _Reader:
        """The content of a compressed element."""
        engine = zlib.decompressobj()
        try:
            plain = engine.decompress(self.data[self.at : self.end], self.room)
        except zlib.error as error:
            raise MatlabError(f"its compressed data is broken: {error}") from None
        if not engine.eof:
            raise MatlabError("a compressed element is cut or unpacks to too much")
        return _Reader(plain, 0, len(plain), self.order, self.room)

    def numbers(self, kind: int) -> np.ndarray:
        """The content as numbers of a type."""
        if kind not in _TYPES:
            raise MatlabError(f"holds numbers of the unknown type {kind}")
        dtype = np.dtype(self.order + _TYPES[kind])
        if self.left() % dtype.itemsize:
            raise MatlabError("an element is no whole number of values")
        return np.frombuffer(self.data, dtype, self.left() // dtype.itemsize, self.at)

    def values(self) -> np.ndarray:
        """The next element's numbers."""
        kind, body = self.element()
        return body.numbers(kind)

    def matrix(self, depth: int) -> tuple[str, Any]:
        """Name and value of an array; an empty element is an empty array."""
        if depth > _DEEPEST:
            raise MatlabError("is nested too deeply")
        if not self.left():
            return "", np.empty((0, 0))
        flags = self.values()
        if len(flags) < 1:
            raise MatlabError("an array has no flags")
        kind, is_complex = int(flags[0]) & 0xFF, bool(int(flags[0]) & 0x800)
        if kind == _OPAQUE:
            return _name(self.values()), None
        if kind in (0, 5) or kind > 15:
            return _name(self.matrix_name_only()), None
        shape = tuple(int(size) for size in self.values())
        if len(shape) < 2 or min(shape) < 0:
            raise MatlabError("an array has impossible dimensions")
        count = 1
        for size in shape:
            count *= size
        name = _name(self.values())
        if kind == _CELL:
            return name, tuple(self._matrices(count, 1, depth))
        if kind in (_STRUCT, _OBJECT):
            return name, self._structs(kind, count, depth)
        values = self.values()
        if is_complex:
            self.values()
        if len(values) != count:
            if kind == _CHAR:
                return name, np.array([""])
            raise MatlabError(f"array {name!r} has {len(values)} values for its shape {shape}")
        if kind == _CHAR:
            codes = np.clip(np.nan_to_num(values), 0, 0xD7FF).astype(np.int64)
            return name, np.array(["".join(map(chr, codes.tolist()))])
        return name, values.astype(_CLASSES[kind]).reshape(shape, order="F")

    def matrix_name_only(self) -> np.ndarray:
        """Names of arrays whose content is passed over."""
        try:
            self.values()
            return self.values()
        except MatlabError:
            return np.empty(0, dtype="i1")

    def _matrices(self, count: int, each: int, depth: int) -> list[Any]:
        if count * each * 8 > self.left():
            raise MatlabError(f"claims {count * each} arrays in {self.left()} bytes")
        found = []
        for _ in range(count * each):
            kind, body = self.element()
            if kind != _MATRIX:
                raise MatlabError(f"holds an element of type {kind} where an array should be")
            found.append(body.matrix(depth + 1)[1])
        return found

    def _structs(self, kind: int, count: int, depth: int) -> list[dict[str, Any]]:
        if kind == _OBJECT:
            self.values()
        width = self.values()
        if len(width) != 1 or not 0 < int(width[0]) <= 1024:
            raise MatlabError("a struct has field names of impossible length")
        text = self.values().astype(np.uint8).tobytes()
        size = int(width[0])
        names = [_name(text[i : i + size]) for i in range(0, len(text), size)]
        if not names:
            return [{} for _ in range(min(count, 1))]
        values = self._matrices(count, len(names), depth)
        return [
            dict(zip(names, values[i : i + len(names)], strict=True))
            for i in range(0, len(values), len(names))
        ]


def _name(text: Any) -> str:
    raw = text if isinstance(text, bytes) else np.asarray(text).astype(np.uint8).tobytes()
    return raw.split(b"\0", 1)[0].decode("latin-1")
