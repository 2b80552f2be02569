"""Real files with damaged bytes: a tree, or a refusal that says why, in bounded time."""

import contextlib
import signal
import warnings

import numpy as np
import pytest

from conftest import data_folder
from windgrove import Tree, TreeFormatError, cli, read_tree

LARGEST = 150_000  # bytes; reading a larger one hundreds of times takes minutes
LONGEST = 20  # s, for any one file
KINDS = ("*.mat", "*.csv", "*.txt", "*.mtg", "*.json")
NO_TREES = ("SOURCE", "LICENSE", "validation", "summary", "statistics", "exampledata")


def files():
    folder = data_folder()
    if folder is None:
        return []
    found = sorted(path for kind in KINDS for path in folder.rglob(kind))
    return [p for p in found if not any(word in p.name for word in NO_TREES)]


def mutated(content, rng):
    """One to four changes of a kind that disks, editors and transfers make."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        at, size = int(rng.integers(len(data) or 1)), int(rng.integers(1, 40))
        kind = rng.integers(7)
        if kind == 0 and data:
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            data[at : at + size] = rng.bytes(size)
        elif kind == 2:
            del data[at : at + size]
        elif kind == 3:
            data[at:at] = data[at : at + size]
        elif kind == 4:
            data[at:at] = rng.bytes(size)
        elif kind == 5:
            del data[at:]
        else:
            digits = [i for i in range(at, min(at + 400, len(data))) if 48 <= data[i] <= 57]
            for i in digits[:: int(rng.integers(1, 9))]:
                data[i] = int(rng.choice(list(b"0123456789-.eE, \t\n")))
    return bytes(data)


@contextlib.contextmanager
def in_time(what):
    def late(number, frame):
        raise AssertionError(f"{what}: still at it after {LONGEST} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def read_or_refuse(path, what):
    with in_time(what), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = read_tree(path)
        except TreeFormatError as error:
            assert str(error), what
            return False
        except Exception as error:
            raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
        trees = found if isinstance(found, (list, tuple)) else [found]
        for tree in trees:
            assert isinstance(tree, Tree), what
            for values in (tree.position, tree.direction, tree.length, tree.volume, tree.area):
                assert np.isfinite(values).all(), what
            assert (tree.parent < np.arange(len(tree))).all(), what
        return True


def attack(path, out, count):
    content = path.read_bytes()
    for seed in range(count):
        rng = np.random.default_rng([seed, len(content)])
        out.write_bytes(mutated(content, rng))
        read_or_refuse(out, f"{path.name}, seed {seed}")


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_damaged_bytes_give_a_tree_or_a_reason(path, tmp_path):
    if path.stat().st_size > LARGEST:
        pytest.skip("large: in the slow test")
    attack(path, tmp_path / path.name, 8)


@pytest.mark.slow
@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_hundreds_of_damaged_files_give_a_tree_or_a_reason(path, tmp_path):
    attack(path, tmp_path / path.name, 300 if path.stat().st_size <= LARGEST else 20)


@pytest.mark.parametrize("path", files()[::4], ids=lambda path: path.name)
def test_info_on_damaged_bytes_ends_with_a_line(path, tmp_path, capsys):
    """0 with a description, or 2 with one line that says what is wrong."""
    if path.stat().st_size > LARGEST:
        pytest.skip("large")
    content, out = path.read_bytes(), tmp_path / path.name
    for seed in range(4):
        out.write_bytes(mutated(content, np.random.default_rng([seed, 5])))
        with in_time(path.name), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = cli.main(["info", str(out)])
        shown = capsys.readouterr()
        assert code in (0, 2), (seed, shown.err)
        assert code == 0 or len(shown.err.splitlines()) == 1, (seed, shown.err)


def test_the_mutations_are_those_of_the_seed():
    rng = [np.random.default_rng(3) for _ in range(2)]
    content = b"0 -1 0 0 0 0 0 1 0.1\n" * 50
    assert mutated(content, rng[0]) == mutated(content, rng[1]) != content
