"""Bytes in, text out: size limits, gzip, byte order marks and encodings."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...errors import TreeFormatError

if TYPE_CHECKING:
    from .table import Layout

MAX_BYTES = 2**30  # a million rows of 36 columns take 0.3 GB; more is refused, not swallowed
_GZIP = b"\x1f\x8b"
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def read_bytes(path: Any) -> tuple[str, bytes]:
    """Name and content of a path or of an open binary file; gzip is unpacked."""
    if hasattr(path, "read"):
        name = str(getattr(path, "name", "file object"))
        content = path.read(MAX_BYTES + 1)
        if not isinstance(content, bytes):
            raise TypeError("path: an open file has to be binary (mode 'rb')")
    else:
        try:
            name = os.fsdecode(path)
        except TypeError:
            raise TypeError(
                f"path: expected a path or a binary file, got {type(path).__name__}"
            ) from None
        content = _read_path(name)
    if len(content) > MAX_BYTES:
        raise TreeFormatError(name, f"is larger than {MAX_BYTES} bytes")
    if content[:2] == _GZIP:
        content = _gunzip(name, content)
    if not content.strip(b" \t\r\n\x00"):
        raise TreeFormatError(name, "is empty")
    return name, content


def _read_path(name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise TreeFormatError(name, "there is no such file") from None
    except IsADirectoryError:
        raise TreeFormatError(name, "is a folder; read_folder reads all of it") from None
    except (OSError, ValueError) as error:
        raise TreeFormatError(name, f"cannot be read: {error}") from None


def _gunzip(name: str, content: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            unpacked = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise TreeFormatError(name, f"its gzip data is broken: {error}") from None
    if len(unpacked) > MAX_BYTES:
        raise TreeFormatError(name, f"unpacks to more than {MAX_BYTES} bytes")
    return unpacked


class Content:
    """One file's bytes, and its text where it is text.

    `data` is the text as UTF-8 or Latin-1 without a mark (UTF-16 and UTF-32 are converted), so
    that ASCII can be searched for in bytes; `encoding` says which.
    """

    def __init__(self, name: str, raw: bytes, encoding: str | None = None) -> None:
        self.name = name
        self.raw = raw
        self._asked = encoding
        self._data: bytes | None = None
        self._encoding = ""

    @property
    def data(self) -> bytes:
        if self._data is None:
            self._data, self._encoding = self._as_text()
        return self._data

    @property
    def encoding(self) -> str:
        self.data  # noqa: B018
        return self._encoding

    @cached_property
    def layout(self) -> Layout:
        """How its lines are cut, if it is a table."""
        from .table import Layout

        return Layout(self)

    def text(self) -> str:
        """All of it as a string."""
        return self.data.decode(self.encoding)

    def head(self, size: int = 65536) -> str:
        """The first `size` bytes as a string."""
        return self.data[:size].decode(self.encoding, errors="ignore")

    def release(self) -> None:
        """Let go of the bytes, which the parsed trees do not need."""
        self.raw, self._data = b"", b""
        self.__dict__.pop("layout", None)

    def _as_text(self) -> tuple[bytes, str]:
        codec = self._asked or next(
            (codec for mark, codec in _MARKS if self.raw.startswith(mark)), None
        )
        codec = codec or _unmarked(self.name, self.raw)
        if codec in ("utf-8", "latin-1"):
            return self.raw, codec
        try:
            text = self.raw.decode(codec).removeprefix("\ufeff")
            if "\0" not in text:
                return text.encode(), "utf-8"
        except (LookupError, UnicodeError, ValueError) as error:
            raise TreeFormatError(self.name, f"is not text in {codec}: {error}") from None
        raise TreeFormatError(self.name, "is a binary file of no known format")


def _unmarked(name: str, raw: bytes) -> str:
    head = raw[:4096]
    if b"\0" in head:
        even, odd = head[0::2].count(0), head[1::2].count(0)
        if odd > 0.4 * len(head) / 2 > even:
            return "utf-16-le"
        if even > 0.4 * len(head) / 2 > odd:
            return "utf-16-be"
    if b"\0" in raw:
        raise TreeFormatError(name, "is a binary file of no known format")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"
