"""A file that moves from one consistent state to the next in one step.

HDF5 rewrites its metadata, and chunks that grew, in place: a process killed between two of these
writes leaves a file that cannot be read. `CommitFile` stands below HDF5 as its file and keeps
every write to a byte that the last commit knew in memory; `commit` writes them to a journal, then
to the file, then removes the journal. So the file on disk is at every moment the last committed
state, or the journal beside it completes the next one (`replay`). Bytes beyond the end of the
last commit are referenced by nothing and go to the file directly, which keeps memory constant.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import os
import struct
import threading
from pathlib import Path

_MAGIC = b"WGJOURN1"
_HEAD = struct.Struct("<8sQ")
_ITEM = struct.Struct("<QQ")
_DIGEST = 16


def journal_path(path: str | os.PathLike[str]) -> Path:
    """The journal that belongs to a file: its name with "-journal"."""
    return Path(os.fspath(path) + "-journal")


class CommitFile:
    """A binary file object for ``h5py.File``; one writer, used under the writer's lock.

    Parameters
    ----------
    path : str or path
        Created; must not exist unless `existing`.
    existing : bool
        Open a file that is there, whose present state counts as committed.

    Attributes
    ----------
    error : OSError or None
        The first failure of the system. From then on writes are dropped, so that HDF5 can close
        its objects while the committed state stays on disk.
    """

    def __init__(self, path: str | os.PathLike[str], *, existing: bool = False) -> None:
        flags = os.O_RDWR | os.O_CLOEXEC | (0 if existing else os.O_CREAT | os.O_EXCL)
        self.path = Path(path)
        self.error: OSError | None = None
        self._fd = os.open(self.path, flags, 0o666)
        self._pid = os.getpid()
        self._committed = self._size = os.fstat(self._fd).st_size
        self._pending: dict[int, bytes] = {}
        self._position = 0
        hold(self._fd)

    # What HDF5 calls.

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = (0, self._position, self._size)[whence]
        self._position = base + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def read(self, size: int = -1) -> bytes:
        buffer = bytearray(max(self._size - self._position, 0) if size < 0 else size)
        return bytes(buffer[: self.readinto(buffer)])

    def readinto(self, buffer: bytearray | memoryview) -> int:
        view = memoryview(buffer).cast("B")
        start, count = self._position, min(len(view), max(self._size - self._position, 0))
        got = os.pread(self._fd, count, start)
        view[: len(got)] = got
        view[len(got) : count] = bytes(count - len(got))
        for offset, data in self._pending.items():
            low, high = max(offset, start), min(offset + len(data), start + count)
            if low < high:
                view[low - start : high - start] = data[low - offset : high - offset]
        self._position += count
        return count

    def write(self, data: bytes | memoryview) -> int:
        view = memoryview(data).cast("B")
        start, end = self._position, self._position + len(view)
        self._position = end
        self._size = max(self._size, end)
        if self._dropped():
            return len(view)
        known = max(min(end, self._committed) - start, 0)
        if known:
            self._pending.pop(start, None)
            self._pending[start] = bytes(view[:known])
        if known < len(view):
            # An exception inside a call of HDF5 would leave its file half closed: `commit` raises.
            with contextlib.suppress(OSError):
                self._attempt(_write_all, self._fd, view[known:], start + known)
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        self._size = self._position if size is None else size
        return self._size

    def flush(self) -> None:
        """Does nothing: a state is only complete when `commit` is called."""

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    # What the recorder calls.

    def commit(self) -> None:
        """Makes everything written so far the state that a reader finds."""
        if self.error is not None:
            raise self.error
        if self._dropped():
            return
        journal = journal_path(self.path)
        if self._pending:
            self._attempt(_write_journal, journal, self._pending)
            self._attempt(_apply, self._fd, self._pending)
        self._attempt(os.ftruncate, self._fd, self._size)
        if self._pending:
            self._attempt(os.unlink, journal)
        self._pending.clear()
        self._committed = self._size

    def sync(self) -> None:
        """Waits until the committed state is on the storage device."""
        if not self._dropped():
            self._attempt(os.fsync, self._fd)

    def close(self) -> None:
        """Closes the file; what was not committed is lost."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _dropped(self) -> bool:
        return self.error is not None or self._fd < 0 or os.getpid() != self._pid

    def _attempt(self, function, *arguments) -> None:  # type: ignore[no-untyped-def]
        try:
            function(*arguments)
        except OSError as error:
            self.error = error
            raise


def _write_all(fd: int, data: bytes | bytearray | memoryview, offset: int) -> None:
    view = memoryview(data)
    while len(view):
        done = os.pwrite(fd, view, offset)
        view, offset = view[done:], offset + done


def _write_journal(path: Path, pending: dict[int, bytes]) -> None:
    body = bytearray(_HEAD.pack(_MAGIC, len(pending)))
    for offset, data in pending.items():
        body += _ITEM.pack(offset, len(data)) + data
    body += hashlib.blake2b(body, digest_size=_DIGEST).digest()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    try:
        _write_all(fd, body, 0)
    except OSError:
        # Half a journal says nothing: the file is still in its last state.
        os.unlink(path)
        raise
    finally:
        os.close(fd)


def _apply(fd: int, pending: dict[int, bytes]) -> None:
    for offset, data in pending.items():
        _write_all(fd, data, offset)


def _read_journal(path: Path) -> dict[int, bytes] | None:
    body = path.read_bytes()
    if len(body) < _HEAD.size + _DIGEST or body[:8] != _MAGIC:
        return None
    content, digest = body[:-_DIGEST], body[-_DIGEST:]
    if hashlib.blake2b(content, digest_size=_DIGEST).digest() != digest:
        return None
    pending, at = {}, _HEAD.size
    for _ in range(_HEAD.unpack_from(content)[1]):
        offset, size = _ITEM.unpack_from(content, at)
        at += _ITEM.size
        pending[offset] = content[at : at + size]
        at += size
    return pending


def hold(fd: int) -> None:
    """Marks a file as in use for as long as it is open: readers may open it, writers may not.

    HDF5 takes the same kind of lock. File systems without locks are left alone.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise
    except OSError:
        return


def in_use(path: str | os.PathLike[str]) -> bool:
    """True where another process, or another writer of this one, has the file open."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
    return False


_replay_lock = threading.Lock()


def replay(path: str | os.PathLike[str]) -> bool:
    """Completes a commit that a killed process left half done.

    Returns True where there was one. A journal that is itself incomplete is removed: then the
    file was not touched. Does nothing while a writer has the file.
    """
    journal = journal_path(path)
    with _replay_lock:
        if not journal.exists() or in_use(path):
            return False
        try:
            pending = _read_journal(journal)
        except FileNotFoundError:
            return False
        if pending is not None:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                _apply(fd, pending)
                os.fsync(fd)
            finally:
                os.close(fd)
        journal.unlink(missing_ok=True)
        return pending is not None
