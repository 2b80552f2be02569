"""Packing chunks outside HDF5, many times faster than its own gzip and readable by everybody.

A chunk goes through the same filters (shuffle, deflate, Fletcher32) and is handed to HDF5 packed.
Deflate is where the time goes, and it gains nothing on the lower bytes of measured or simulated
floats: these are stored in the deflate stream as they are, and only the bytes that hold sign and
exponent are coded, by Huffman codes alone. All of it is one call of C (`windgrove/pack.h`) that
leaves the interpreter free.
"""

from __future__ import annotations

from collections.abc import Iterator

import h5py
import numpy as np
from numpy.typing import NDArray

from .. import _kernels


class ChunkPacker:
    """Packs the chunks of one variable, in memory of its own.

    Parameters
    ----------
    shape : tuple of int
        Of a frame.
    chunk : tuple of int
        Frames, and what of each: whole but for one axis, 1 before it.
    """

    def __init__(self, shape: tuple[int, ...], chunk: tuple[int, ...]) -> None:
        self.frames, self.cut = chunk[0], chunk[1:]
        self.stride = int(np.prod(shape))
        self.run = int(np.prod(self.cut))
        count = self.frames * self.run
        self._planes = np.empty(4 * count, np.uint8)
        self._out = np.empty(_kernels.pack_room(count), np.uint8)
        self.places = list(self._places(shape))

    def _places(self, shape: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], int, int]]:
        """Corner, first item and number of items of the chunks that a frame has."""
        counts = [-(-size // cut) for size, cut in zip(shape, self.cut, strict=True)]
        for index in np.ndindex(*counts):
            corner = tuple(i * cut for i, cut in zip(index, self.cut, strict=True))
            left = [
                min(cut, size - c) for cut, size, c in zip(self.cut, shape, corner, strict=True)
            ]
            offset = int(np.ravel_multi_index(corner, shape)) if shape else 0
            yield corner, offset, int(np.prod(left))

    def pack(
        self, block: NDArray[np.float32], place: tuple[int, int], *, coded: bool
    ) -> NDArray[np.uint8]:
        """One chunk of a C-ordered block (frames, ...) as HDF5 stores it; valid until the next."""
        offset, run = place
        frames = min(len(block), self.frames)
        where = (offset, frames, self.stride, run, self.frames, self.run)
        size = _kernels.pack_chunk(block.reshape(-1), *where, coded, self._planes, self._out)
        return self._out[:size]


class PackedChannel:
    """Appends frames to a chunked float32 variable, packing whole chunks itself.

    The frames of the last, incomplete chunk are kept and packed again when more arrive.
    """

    def __init__(self, dataset: h5py.Dataset) -> None:
        self.dataset = dataset
        self.packer = ChunkPacker(dataset.shape[1:], dataset.chunks)
        frames = self.packer.frames
        self.tail = np.empty((frames, *dataset.shape[1:]), np.float32)
        self.start = len(dataset) - len(dataset) % frames  # first frame of the tail
        self.count = len(dataset) - self.start
        if self.count:
            self.tail[: self.count] = dataset[self.start :]
        self.written = self.count

    def append(self, values: NDArray[np.float32]) -> None:
        """Takes frames; full chunks are written, the rest by `flush`."""
        values = np.ascontiguousarray(values)
        full, done = self.packer.frames, 0
        while done < len(values):
            if self.count == 0 and len(values) - done >= full:
                self._write(values[done : done + full], coded=True)
                self.start += full
                done += full
                continue
            count = min(len(values) - done, full - self.count)
            self.tail[self.count : self.count + count] = values[done : done + count]
            self.count += count
            done += count
            if self.count == full:
                self._write(self.tail, coded=True)
                self.start += full
                self.count = self.written = 0

    def flush(self, *, final: bool = False) -> None:
        """Writes the chunks of the tail; `final` packs them well."""
        if self.count == self.written and not (final and self.count):
            return
        # An incomplete chunk is written again soon; coding would be most of the work.
        self._write(self.tail[: self.count], coded=final)
        self.written = self.count

    def _write(self, block: NDArray[np.float32], *, coded: bool) -> None:
        self.dataset.resize(self.start + len(block), axis=0)
        for corner, *place in self.packer.places:
            packed = self.packer.pack(block, (place[0], place[1]), coded=coded)
            self.dataset.id.write_direct_chunk((self.start, *corner), packed)


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
    known = filters == fast and dataset.dtype == np.dtype("<f4") and dataset.ndim > 1
    if known and not live and _runs_along(dataset.shape[1:], dataset.chunks[1:]):
        return PackedChannel(dataset)
    return PlainChannel(dataset)


def _runs_along(shape: tuple[int, ...], cut: tuple[int, ...]) -> bool:
    """Whether the items of a chunk lie side by side in a frame: one axis cut, 1 before it."""
    axes = [axis for axis, size in enumerate(shape) if cut[axis] != size]
    return not axes or all(size == 1 for size in cut[: axes[-1]])
