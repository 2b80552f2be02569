"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path


def refuse_special(path: Path) -> None:
    """Refuse a folder, device, pipe or socket, which a rename would replace or cannot."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; give the name of a file", str(path))
    if path.exists() and not path.is_file():
        raise OSError(
            errno.EINVAL, "is a device, pipe or socket; give the name of a file", str(path)
        )


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the place and rename: a crash or a full disk leaves the old file.

    OSError names `path`, whatever the step that failed.
    """
    refuse_special(path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=".windgrove-", dir=path.absolute().parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
