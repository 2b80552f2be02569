"""Bytes in, text out: size limits, packed files, byte order marks and encodings."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...errors import TreeFormatError
from .foreign import what_it_is
from .unpack import unpack

if TYPE_CHECKING:
    from .layout import Layout

MAX_BYTES = 2**30  # a million rows of 36 columns take 0.3 GB; more is refused, not swallowed
_EMPTY = b" \t\r\n\x00\xef\xbb\xbf"
_DOS_END = b"\x00\x1a"  # what old programs put behind the text
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def read_bytes(path: Any) -> tuple[str, bytes]:
    """Name and content of a path or of an open binary file; packed files are unpacked.

    TreeFormatError says what a file is that is surely no tree.
    """
    if isinstance(path, (bytes, bytearray, memoryview)) and b"\n" in bytes(path):
        raise TypeError("path: bytes are the name of a file; io.BytesIO(content) reads content")
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
    content = unpack(name, content, MAX_BYTES)
    if not content[:4096].strip(_EMPTY) and not content.strip(_EMPTY):
        raise TreeFormatError(name, "is empty")
    foreign = what_it_is(content)
    if foreign is not None:
        raise TreeFormatError(name, f"is {foreign}")
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
        from .layout import Layout

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
        raw = _tidied(self.raw)
        codec = self._asked or next((codec for mark, codec in _MARKS if raw.startswith(mark)), None)
        codec = codec or _unmarked(self.name, raw)
        if codec in ("utf-8", "latin-1"):
            return raw, codec
        try:
            text = raw.decode(codec).removeprefix("\ufeff")
            if "\0" not in text:
                return _tidied(text.encode()), "utf-8"
        except (LookupError, UnicodeError, ValueError) as error:
            raise TreeFormatError(self.name, f"is not text in {codec}: {error}") from None
        raise TreeFormatError(self.name, "is a binary file of no known format")


def _tidied(text: bytes) -> bytes:
    """Text without what DOS programs put behind it, and with line feeds where all lines end in
    carriage returns. UTF-16 and UTF-32 have NULs in every line and are left alone."""
    if text.endswith((b"\x00", b"\x1a")):
        bare = text.rstrip(_DOS_END)
        text = text if b"\x00" in bare[:4096] else bare
    if b"\r" in text[:65536] and b"\n" not in text:
        text = text.replace(b"\r", b"\n")
    return text


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
