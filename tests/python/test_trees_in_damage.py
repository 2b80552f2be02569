"""Damaged files: a Tree that holds together or a TreeFormatError, never anything else, and soon.

The fuzzer of tests/fuzz looks further; this keeps what it found and what people do to files.
"""

import io
import random
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tree_files as files
import windgrove as wg
from windgrove.trees.readers.matlab import MatlabError, load_level5
from windgrove.trees.write import encode_tree

CASES = {**files.SAME, **files.OTHERS}
CONTENT = {name: make() for name, (make, _, _) in CASES.items()}
TREE = wg.read_tree(io.BytesIO(CONTENT["archi"]))
CONTENT |= {"json": encode_tree(TREE, "json"), "hdf5": encode_tree(TREE, "hdf5")}
OPTIONS = [{}, {"strict": True}, {"roots": "all", "missing_parents": "roots", "bad_rows": "drop"},
           {"radius": "pipe", "length": 0.1, "bad_rows": "drop", "units": "cm"}]  # fmt: skip
VALUES = [b"-1", b"0", b"1e308", b"-1e308", b"nan", b"inf", b"65535", b"99999999999999999999999",
          b"1e-320", b"", b",", b"\t", b"\n", b'"', b"\0", b"\xff", b"<<E99999999", b";", b"1,5",
          b"^", b"2147483648", b"\r", b"#"]  # fmt: skip


def attempt(content, **options):
    """The tree, or None where it is refused."""
    try:
        tree = wg.read_tree(io.BytesIO(content), **options)
    except wg.TreeFormatError as error:
        assert str(error).startswith("file object")
        return None
    assert np.isfinite(tree.position).all() and np.isfinite(tree.direction).all()
    assert (tree.length > 0).all() and (tree.parent < np.arange(len(tree))).all()
    assert ((tree.volume > 0) | (tree.area > 0)).all()
    return tree


@pytest.mark.parametrize("name", CONTENT)
def test_a_file_cut_anywhere_is_refused_or_holds_together(name):
    content = CONTENT[name]
    options = CASES[name][2] if name in CASES else {}
    step = max(1, len(content) // (3 if "7.3" in name else 60))  # those start a process each
    for size in [*range(0, len(content), step), len(content) - 1, len(content) - 2]:
        attempt(content[:size], **options)


@pytest.mark.parametrize(
    "name", [n for n in CONTENT if n.startswith(("archi", "rtwig", "treeqsm text", "raycloud"))]
)
def test_a_table_cut_within_a_row_is_refused(name):
    """Whole rows may be missing where parents come first; a part of a row never passes unseen,
    unless what is left of the last cell is a number too."""
    content = CONTENT[name].rstrip(b"\n, ")
    delimiter = b"\t" if b"\t" in content else b","
    last = content.rfind(b"\n") + 1
    if name.startswith("raycloud"):
        last = content.rfind(b", ") + 2
    cuts = [i for i in range(last, len(content)) if content[i : i + 1] == delimiter]
    for i in cuts[1:]:
        with pytest.raises(wg.TreeFormatError):
            wg.read_tree(io.BytesIO(content[:i]))


@pytest.mark.parametrize("name", CONTENT)
def test_random_damage_is_refused_or_holds_together(name):
    rng = random.Random(name)
    options = CASES[name][2] if name in CASES else {}
    for _ in range(3 if "7.3" in name else 60):
        content = damage(bytearray(CONTENT[name]), rng)
        attempt(content, **{**options, **rng.choice(OPTIONS)})


def damage(content, rng):
    for _ in range(rng.choice([1, 1, 2, 5])):
        size = max(len(content), 1)
        at = rng.randrange(size)
        kind = rng.randrange(6)
        if kind == 0:
            content[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            del content[at : at + rng.choice([1, 3, 40])]
        elif kind == 2:
            content[at:at] = rng.choice(VALUES)
        elif kind == 3:
            begin = rng.randrange(size)
            content[at : at + 8] = content[begin : begin + 8]
        elif kind == 4:
            numbers = list(re.finditer(rb"-?\d+\.?\d*", bytes(content)))
            if numbers:
                number = rng.choice(numbers)
                content[number.start() : number.end()] = rng.choice(VALUES)
        else:
            lines = bytes(content).split(b"\n")
            lines.insert(rng.randrange(len(lines)), lines.pop(rng.randrange(len(lines))))
            content = bytearray(b"\n".join(lines))
    return bytes(content)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.binary(max_size=300),
    st.sampled_from(sorted({CASES[name][1] for name in CASES} | {"json", "hdf5"})),
    st.sampled_from(OPTIONS),
)
def test_any_bytes_under_any_forced_format_are_refused_or_hold_together(content, format, options):
    attempt(content, format=format, **options)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.lists(
            st.one_of(
                st.integers(-3, 12).map(str),
                st.floats(width=32).map(str),
                st.sampled_from(["", "NA", "x", "1,5", "-1", "65535"]),
            ),
            min_size=9,
            max_size=9,
        ),
        max_size=12,
    ),
    st.sampled_from([",", ";", "\t", " "]),
    st.sampled_from(OPTIONS),
)
def test_any_cells_in_a_table_are_refused_or_hold_together(rows, delimiter, options):
    names = ["id", "parent", "start_x", "start_y", "start_z", "end_x", "end_y", "end_z", "radius"]
    text = "\n".join(delimiter.join(row) for row in [names, *rows])
    attempt(text.encode(), **options)


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text("PASE/<+^1239\t #a", max_size=12), max_size=15), st.sampled_from(OPTIONS))
def test_any_codes_in_a_multiscale_graph_are_refused_or_hold_together(lines, options):
    text = files.MTG_HEAD + "ENTITY-CODE\t\t\t\tXX\tYY\tZZ\tdiameter_cm\n" + "\n".join(lines)
    attempt(text.encode(), **options)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_bytes_changed_in_a_matlab_file_are_refused_or_hold_together(data):
    """Without compression, so that the changes reach the sizes and types themselves."""
    content = bytearray(UNPACKED)
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    attempt(bytes(content))


UNPACKED = files.mat({"QSM": files.model()})


def test_the_bounded_reader_of_matlab_files_equals_scipys_on_real_files(data):
    from scipy.io import loadmat

    for path in sorted(data.glob("*/*.mat")):
        ours, theirs = load_level5(path.read_bytes()), loadmat(path)
        assert set(ours) == {name for name in theirs if not name.startswith("__")}
        for name, value in ours.items():
            compare(value, theirs[name])


def compare(ours, theirs):
    if isinstance(ours, list):
        records = theirs.ravel(order="F")
        assert len(ours) == len(records)
        for one, record in zip(ours, records, strict=True):
            assert tuple(one) == record.dtype.names
            for name in one:
                compare(one[name], record[name])
    elif isinstance(ours, tuple):
        for one, other in zip(ours, theirs.ravel(order="F"), strict=True):
            compare(one, other)
    elif isinstance(ours, np.ndarray) and ours.dtype.kind != "U" and ours.size:
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "no header"),
        (UNPACKED[:140], r"past the end|within an element"),
        (UNPACKED[:128] + b"\x0e\0\0\0\xff\xff\xff\x7f", "runs past the end"),
        (UNPACKED[:128] + b"\x09\0\0\0\x08\0\0\0" + b"\0" * 8, "where a variable should be"),
        (UNPACKED[:128] + b"\x0f\0\0\0\x08\0\0\0" + b"\0" * 8, "compressed data is broken"),
    ],
)
def test_a_matlab_file_that_does_not_hold_together_says_where(content, match):
    with pytest.raises(MatlabError, match=match):
        load_level5(content)


def test_a_tree_in_hdf5_that_was_changed_is_refused_before_the_library_sees_it():
    """The HDF5 library loops for ever on some damaged files: none gets there."""
    content = bytearray(CONTENT["hdf5"])
    for at in (700, len(content) // 2, len(content) - 1):
        changed = bytes(content[:at]) + bytes([content[at] ^ 1]) + bytes(content[at + 1 :])
        with pytest.raises(wg.TreeFormatError, match="digest does not fit"):
            wg.read_tree(io.BytesIO(changed))
    with pytest.raises(wg.TreeFormatError, match="digest does not fit"):
        wg.read_tree(io.BytesIO(content[:-1]))
    with pytest.raises(wg.TreeFormatError, match="open_recording reads recordings"):
        wg.read_tree(io.BytesIO(content[512:]))


def test_a_matlab_7_3_file_that_hdf5_does_not_end_with_is_given_up(monkeypatch):
    from windgrove.trees.readers import matlab_hdf5

    monkeypatch.setattr(matlab_hdf5, "_SECONDS", 0.001)
    with pytest.raises(wg.TreeFormatError, match=r"not done with it after 0.001 s"):
        wg.read_tree(io.BytesIO(CONTENT["treeqsm mat 7.3"]))


def test_a_run_of_a_graph_cannot_be_longer_than_a_plant():
    text = files.MTG_HEAD + "ENTITY-CODE\n/P1/A1/S1<<S999999999\n"
    with pytest.raises(wg.TreeFormatError, match="does not count up"):
        wg.read_tree(io.BytesIO(text.encode()), length=0.1, radius=0.01)


def test_a_scale_written_as_a_superscript_is_refused():
    text = files.mtg_points().decode().replace("S\t3\t", "S\t\N{SUPERSCRIPT THREE}\t")
    with pytest.raises(wg.TreeFormatError, match="is no scale of class S"):
        wg.read_tree(io.BytesIO(text.encode("latin-1")))


@pytest.mark.parametrize("code", [*range(32), 0x7F, 0x85, 0xA0])
def test_a_file_of_one_control_character_is_refused(code):
    for content in (bytes([code]), bytes([code, 10, code]), b"1" + bytes([code])):
        with pytest.raises(wg.TreeFormatError):
            wg.read_tree(io.BytesIO(content))


def test_a_segment_table_whose_parent_column_is_garbled_is_refused():
    text = (
        files.computree_segments().decode().replace("parent_segment_ID", "parent_segment_ID\xff(")
    )
    with pytest.raises(wg.TreeFormatError, match="has no column parentsegmentid"):
        wg.read_tree(io.BytesIO(text.encode("latin-1")), format="computree")


def test_deep_nesting_in_json_is_refused():
    for text in ("[" * 100_000, '{"branch":' * 50_000 + '"levels" "gnarliness"'):
        with pytest.raises(wg.TreeFormatError):
            wg.read_tree(io.BytesIO(text.encode()))


def test_a_real_file_cut_at_every_kilobyte_is_refused_or_holds_together(data):
    for name in ("itsme/single_tree_2_qsm.mat", "canopyhydro/5_SmallTree.csv",
                 "openalea-mtg/boutdenoylum2.mtg"):  # fmt: skip
        content = (data / name).read_bytes()
        for size in range(0, len(content), 1024):
            attempt(content[:size], radius=0.01)


@pytest.mark.parametrize("name", ["rtwig/QSM.csv", "rtwig/QSM2.csv"])
def test_rows_of_a_real_table_shuffled_give_the_same_tree(data, name):
    lines = (data / name).read_text().splitlines()
    expected = wg.read_tree(data / name)
    random.Random(4).shuffle(rows := lines[1:])
    tree = wg.read_tree(io.BytesIO("\n".join([lines[0], *rows]).encode()))
    assert len(tree) == len(expected)
    np.testing.assert_allclose(np.sort(tree.volume), np.sort(expected.volume), rtol=1e-12)
    np.testing.assert_allclose(np.sort(tree.length), np.sort(expected.length), rtol=1e-12)


@pytest.mark.parametrize(
    "format",
    ["archi", "computree", "minimal", "rtwig", "simpleforest", "treegraph", "treeqsm-text"],
)
def test_a_forced_format_without_any_of_its_columns_and_a_long_row_is_refused(format):
    """pandas fails with an IndexError where it is asked for no column of such rows."""
    with pytest.raises(wg.TreeFormatError):
        wg.read_tree(io.BytesIO(b"a|b\n1|2\n.1|2|||||||"), format=format)
    with pytest.raises(wg.TreeFormatError):
        wg.read_tree(io.BytesIO(b"2.$\n.1,|\n.0,1|||||||"), format=format, bad_rows="drop")
