"""Trees of our own in HDF5, with a digest in the user block."""

from __future__ import annotations

import io
import json

from ..serial import BLOCK, FORMAT, VERSION, report_values, sealed, segment_arrays, tree_arrays
from ..tree import Tree

_UNITS = {"position": "m", "length": "m", "volume": "m3", "area": "m2", "offset": "m"}


def encode(tree: Tree, *, world: bool) -> bytes:
    """The file's bytes."""
    import h5py

    target = io.BytesIO()
    with h5py.File(target, "w", userblock_size=BLOCK) as file:
        file.attrs.update(format=FORMAT, version=VERSION, name=tree.name)
        file.attrs["report"] = json.dumps(report_values(tree.report), allow_nan=False)
        for name, array in tree_arrays(tree).items():
            dataset = file.create_dataset(name, data=array)
            if name in _UNITS:
                dataset.attrs["units"] = _UNITS[name]
        segments = segment_arrays(tree)
        if segments:
            group = file.create_group("segments")
            for name, array in segments.items():
                group.create_dataset(name, data=array)
    return sealed(target.getvalue())
