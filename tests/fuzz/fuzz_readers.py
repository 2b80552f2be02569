"""Fuzzes every tree reader: whatever the bytes, a Tree or a TreeFormatError, soon and in little
memory.

    python tests/fuzz/fuzz_readers.py --seconds 60            # each reader for a minute
    python tests/fuzz/fuzz_readers.py --format treeqsm        # one reader, until it is stopped
    python tests/fuzz/fuzz_readers.py --format mtg FILE       # one input again

Needs atheris (``pip install atheris``). Seeds are the small trees of tests/python/tree_files.py;
what is found is left in tests/fuzz/found, which git passes over.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
MEMORY_MB = 2048
SLOWEST_SECONDS = 10
OPTIONS = (
    {},
    {"strict": True},
    {"roots": "all", "missing_parents": "roots", "bad_rows": "drop"},
    {"radius": "pipe", "length": 0.1, "bad_rows": "drop", "units": "cm"},
    {"columns": "id type x y z radius parent"},
)


def seeds() -> dict[str, list[bytes]]:
    """Small trees by the name of their format."""
    import tree_files
    import windgrove as wg

    found: dict[str, list[bytes]] = {}
    for make, format, _ in {**tree_files.SAME, **tree_files.OTHERS}.values():
        found.setdefault(format, []).append(make())
    tree = wg.read_tree(io.BytesIO(tree_files.archi()))
    with tempfile.TemporaryDirectory() as folder:
        for format, suffix in (("json", "json"), ("hdf5", "h5")):
            path = Path(folder) / f"tree.{suffix}"
            wg.write_tree(tree, path)
            found[format] = [path.read_bytes()]
    return found


def check(content: bytes, format: str) -> None:
    """One input: the last byte chooses the options and whether the format is forced."""
    import numpy as np

    import windgrove as wg

    choice = content[-1] if content else 0
    options = OPTIONS[choice % len(OPTIONS)]
    forced = format if choice & 64 else None
    try:
        tree = wg.read_tree(io.BytesIO(content), format=forced, **options)
    except wg.TreeFormatError:
        return
    assert np.isfinite(tree.position).all() and (tree.length > 0).all()
    assert (tree.parent < np.arange(len(tree))).all()


def fuzz(format: str, arguments: list[str]) -> None:
    """Run libFuzzer on one reader; never returns."""
    import atheris

    with atheris.instrument_imports(include=["windgrove.trees"]):
        from windgrove.trees.choose import formats

        formats()
    warnings.simplefilter("error")
    atheris.Setup([sys.argv[0], *arguments], lambda content: check(content, format))
    atheris.Fuzz()


def run_one(format: str, contents: list[bytes], seconds: int) -> int:
    """Fuzz one reader in its own process, since a crash or a hang ends it."""
    found = HERE / "found"
    found.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as corpus:
        for i, content in enumerate(contents):
            (Path(corpus) / f"seed{i}").write_bytes(content)
        command = [sys.executable, __file__, "--format", format, "--", corpus,
                   f"-max_total_time={seconds}", f"-timeout={SLOWEST_SECONDS}",
                   f"-rss_limit_mb={MEMORY_MB}", f"-artifact_prefix={found}/{format}-",
                   "-max_len=20000", "-print_final_stats=1", "-verbosity=0"]  # fmt: skip
        return subprocess.run(command, check=False).returncode


def main() -> int:
    """All readers in turn, or the one asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", help="one reader; more arguments go to libFuzzer")
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    arguments, rest = parser.parse_known_args()
    if arguments.format:
        fuzz(arguments.format, [argument for argument in rest if argument != "--"])
    failed = []
    for format, contents in sorted(seeds().items()):
        if run_one(format, contents, arguments.seconds):
            failed.append(format)
    said = f"findings in {', '.join(failed)}: see tests/fuzz/found" if failed else "no findings"
    print(said)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
