"""Names for what determines a result: the same value, the same digest, on every machine."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

DIGEST_BYTES = 16


def fingerprint(value: Any) -> str:
    """32 hexadecimal digits that change with anything the value is made of.

    Numbers by their bits, arrays by dtype, shape and content, dataclasses, mappings and objects by
    class and members, functions by their code, defaults and closure. Names that begin with an
    underscore count for objects: state is state. `threads` does not: results never depend on it.
    """
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    _feed(digest, value, ())
    return digest.hexdigest()


_SKIPPED = {"threads", "_threads"}


def _feed(digest: Any, value: Any, path: tuple[int, ...]) -> None:
    if id(value) in path:
        digest.update(b"cycle")
        return
    if isinstance(value, (bool, np.bool_)):
        digest.update(b"b1" if value else b"b0")
    elif isinstance(value, (int, np.integer)):
        digest.update(f"i{int(value)};".encode())
    elif isinstance(value, (float, np.floating)):
        digest.update(b"f" + struct.pack("<d", float(value)))
    elif value is None:
        digest.update(b"n")
    elif isinstance(value, (str, PurePath)):
        text = str(value).encode()
        digest.update(f"s{len(text)};".encode() + text)
    elif isinstance(value, (bytes, bytearray)):
        digest.update(f"y{len(value)};".encode() + bytes(value))
    elif isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"a{value.dtype.str}{value.shape};".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    else:
        _feed_parts(digest, value, (*path, id(value)))


def _feed_parts(digest: Any, value: Any, path: tuple[int, ...]) -> None:
    if isinstance(value, (list, tuple, np.ndarray)):
        digest.update(f"l{len(value)};".encode())
        for item in value:
            _feed(digest, item, path)
    elif isinstance(value, Mapping):
        digest.update(f"m{len(value)};".encode())
        for key in sorted(value, key=str):
            _feed(digest, str(key), path)
            _feed(digest, value[key], path)
    elif isinstance(value, (set, frozenset)):
        _feed_parts(digest, sorted(fingerprint(item) for item in value), path)
    elif isinstance(value, type):
        _feed(digest, f"{value.__module__}.{value.__qualname__}", path)
    elif isinstance(value, (FunctionType, MethodType, CodeType)):
        _feed_function(digest, value, path)
    else:
        _feed_object(digest, value, path)


def _feed_function(digest: Any, value: Any, path: tuple[int, ...]) -> None:
    if isinstance(value, MethodType):
        _feed(digest, value.__self__, path)
        value = value.__func__
    if isinstance(value, CodeType):
        _feed(digest, [value.co_code, value.co_names], path)
        _feed(digest, [item for item in value.co_consts if item is not None], path)
        return
    _feed(digest, [value.__qualname__, value.__code__, value.__defaults__], path)
    cells = value.__closure__ or ()
    _feed(digest, [cell.cell_contents for cell in cells], path)


def _feed_object(digest: Any, value: Any, path: tuple[int, ...]) -> None:
    _feed(digest, type(value), path)
    members: dict[str, Any] | None
    if is_dataclass(value):
        members = {f.name: getattr(value, f.name) for f in fields(value)}
    else:
        state = value.__getstate__() if hasattr(value, "__getstate__") else None
        members = _members(state)
        if members is None:
            reduced = value.__reduce_ex__(2)
            _feed(digest, [item for item in reduced[1:3] if item is not None], path)
            return
    _feed(digest, {k: v for k, v in members.items() if k not in _SKIPPED}, path)


def _members(state: Any) -> dict[str, Any] | None:
    if isinstance(state, dict):
        return state
    if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):
        return {**(state[0] or {}), **state[1]}
    return None
