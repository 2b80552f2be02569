"""Packed files: gzip, bzip2, xz and zip of one file; what comes out is limited."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import zipfile
import zlib
from typing import Any

from ...errors import TreeFormatError

_SIGNS = ((b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\x00", "xz"), (b"PK\x03\x04", "zip"))
_BROKEN = (
    OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
    NotImplementedError, RuntimeError, IndexError, KeyError, struct.error,
)  # fmt: skip
_XZ_MEMORY = 2**28  # bytes a decoder may take; the largest preset of xz needs a quarter of it


def unpack(name: str, content: bytes, limit: int) -> bytes:
    """The content of a packed file; of any other the bytes themselves."""
    kind = next((kind for sign, kind in _SIGNS if content.startswith(sign)), None)
    if kind is None:
        return content
    try:
        if kind == "zip":
            return _from_zip(name, content, limit)
        with _open(kind, content) as file:
            unpacked: bytes = file.read(limit + 1)
    except TreeFormatError:
        raise
    except _BROKEN as error:
        raise TreeFormatError(name, f"its {kind} data is broken: {error}") from None
    return _limited(name, unpacked, limit)


def _open(kind: str, content: bytes) -> Any:
    stream = io.BytesIO(content)
    if kind == "gzip":
        return gzip.GzipFile(fileobj=stream)
    return bz2.BZ2File(stream) if kind == "bzip2" else _Xz(content)


class _Xz:
    """`lzma.LZMAFile` with a limit on memory."""

    def __init__(self, content: bytes) -> None:
        self._decoder = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
        self._content = content

    def __enter__(self) -> _Xz:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, size: int) -> bytes:
        unpacked = self._decoder.decompress(self._content, size)
        if not self._decoder.eof and len(unpacked) < size:
            raise EOFError("it ends early")
        return unpacked


def _from_zip(name: str, content: bytes, limit: int) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [info.filename for info in archive.infolist() if not info.is_dir()]
        if "[Content_Types].xml" in names or "content.xml" in names:
            raise TreeFormatError(
                name, "is a spreadsheet or another Office file: save the sheet with the cylinders "
                "as CSV",
            )  # fmt: skip
        files = [one for one in names if not one.startswith("__MACOSX/")]
        if len(files) != 1:
            shown = ", ".join(files[:5]) + (" ..." if len(files) > 5 else "")
            raise TreeFormatError(
                name, f"is a zip archive of {len(files)} files ({shown}): unpack it; read_folder "
                "reads all",
            )  # fmt: skip
        with archive.open(files[0]) as file:
            return _limited(name, file.read(limit + 1), limit)


def _limited(name: str, unpacked: bytes, limit: int) -> bytes:
    if len(unpacked) > limit:
        raise TreeFormatError(name, f"unpacks to more than {limit} bytes")
    return unpacked
