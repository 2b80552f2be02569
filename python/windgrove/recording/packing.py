"""Packing chunks outside HDF5, many times faster than its own gzip and readable by everybody.

A chunk goes through the same filters (shuffle, deflate, Fletcher32) and is handed to HDF5 packed.
Deflate is where the time goes, and it gains nothing on the lower bytes of measured or simulated
floats: these are stored in the deflate stream as they are, and only the bytes that hold sign and
exponent are coded, by Huffman codes alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import h5py
import numpy as np
from numpy.typing import NDArray

from .. import _kernels

_ZLIB_HEADER = b"\x78\x01"
_CODED_PLANES = 1  # of four


def pack_chunk(chunk: NDArray[np.float32], *, coded_planes: int = _CODED_PLANES) -> bytes:
    """A C-ordered float32 chunk as HDF5 stores it after shuffle, deflate and Fletcher32."""
    planes = np.empty(4 * chunk.size, np.uint8)
    _kernels.shuffle4(chunk.reshape(-1), planes)
    view = memoryview(planes)  # type: ignore[arg-type]
    at = (4 - coded_planes) * chunk.size
    plain = zlib.compressobj(0, zlib.DEFLATED, -zlib.MAX_WBITS)
    coded = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_HUFFMAN_ONLY)
    # A full flush ends on a byte, so that the second stream continues the first.
    body = b"".join(
        [
            _ZLIB_HEADER,
            plain.compress(view[:at]),
            plain.flush(zlib.Z_FULL_FLUSH),
            coded.compress(view[at:]),
            coded.flush(),
            zlib.adler32(view).to_bytes(4, "big"),
        ]
    )
    checksum = _kernels.fletcher32(np.frombuffer(body, np.uint8))
    return body + checksum.to_bytes(4, "little")


class PackedChannel:
    """Appends frames to a chunked float32 variable, packing whole chunks itself.

    The frames of the last, incomplete chunk are kept and packed again when more arrive.
    """

    def __init__(self, dataset: h5py.Dataset) -> None:
        self.dataset = dataset
        frames, *self.cut = dataset.chunks
        self.tail = np.full((frames, *dataset.shape[1:]), np.nan, np.float32)
        self.start = len(dataset) - len(dataset) % frames  # first frame of the tail
        self.count = len(dataset) - self.start
        if self.count:
            self.tail[: self.count] = dataset[self.start :]
        self.written = self.count

    def append(self, values: NDArray[np.float32]) -> None:
        """Takes frames; full chunks are written, the rest by `flush`."""
        done = 0
        while done < len(values):
            count = min(len(values) - done, len(self.tail) - self.count)
            self.tail[self.count : self.count + count] = values[done : done + count]
            self.count += count
            done += count
            if self.count == len(self.tail):
                self.flush()
                self.start += self.count
                self.count = self.written = 0
                self.tail[...] = np.nan

    def flush(self, *, final: bool = False) -> None:
        """Writes the chunks of the tail, complete or not; `final` packs them well."""
        if self.count == self.written and not (final and self.count):
            return
        self.dataset.resize(self.start + self.count, axis=0)
        # An incomplete chunk is written again soon; coding would be most of the work.
        coded = _CODED_PLANES if final or self.count == len(self.tail) else 0
        for corner in self._corners():
            packed = pack_chunk(self._chunk(corner), coded_planes=coded)
            self.dataset.id.write_direct_chunk((self.start, *corner), packed)
        self.written = self.count

    def _corners(self) -> Iterator[tuple[int, ...]]:
        shape = self.tail.shape[1:]
        counts = [-(-size // cut) for size, cut in zip(shape, self.cut, strict=True)]
        for index in np.ndindex(*counts):
            yield tuple(i * cut for i, cut in zip(index, self.cut, strict=True))

    def _chunk(self, corner: tuple[int, ...]) -> NDArray[np.float32]:
        where = tuple(slice(c, c + size) for c, size in zip(corner, self.cut, strict=True))
        part = self.tail[(slice(None), *where)]
        whole = (len(self.tail), *self.cut)
        if part.shape == whole:
            return np.ascontiguousarray(part)
        filled = np.full(whole, np.nan, np.float32)
        filled[tuple(slice(size) for size in part.shape)] = part
        return filled


class PlainChannel:
    """The same through HDF5's own filters."""

    def __init__(self, dataset: h5py.Dataset) -> None:
        self.dataset = dataset

    def append(self, values: NDArray[np.generic]) -> None:
        start = len(self.dataset)
        self.dataset.resize(start + len(values), axis=0)
        self.dataset[start:] = values

    def flush(self, *, final: bool = False) -> None:
        """Nothing is kept."""


def channel_writer(dataset: h5py.Dataset, *, live: bool) -> PackedChannel | PlainChannel:
    """The faster writer where the variable is packed in the way it knows."""
    plist = dataset.id.get_create_plist()
    filters = [plist.get_filter(i)[0] for i in range(plist.get_nfilters())]
    fast = [h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_FLETCHER32]
    if filters == fast and dataset.dtype == np.dtype("<f4") and dataset.ndim > 1 and not live:
        return PackedChannel(dataset)
    return PlainChannel(dataset)
