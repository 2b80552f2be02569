"""The TOML form of a species: round trips, versions, and errors that say where."""

import json
import math
from importlib import resources
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

import windgrove as wg
from windgrove.species import (
    Growth,
    Level,
    Provenance,
    Species,
    check_species,
    describe_difference,
    schema,
    species_names,
)

OLD = Path(__file__).parent / "presets" / "version_1.toml"


def tables(**changes):
    raw = schema.species_tables(wg.load_species("oak"))
    for path, value in changes.items():
        *parents, key = path.split("__")
        table = raw
        for name in parents:
            table = table[name]
        if value is None:
            del table[key]
        else:
            table[key] = value
    return raw


def written(folder, **changes):
    path = folder / "mine.toml"
    path.write_text(tomli_w.dumps(tables(**changes)))
    return path


@pytest.mark.parametrize("name", species_names())
def test_saving_and_loading_gives_an_equal_species(name, tmp_path):
    species = wg.load_species(name)
    assert wg.load_species(species.save(tmp_path / "copy.toml")) == species
    assert not list(tmp_path.glob("*.part"))


positive = st.floats(1e-6, 1e9)
ratio = st.floats(0, 1)


@given(
    st.builds(Level, positive, ratio, positive, st.just(0.0), ratio, st.none() | ratio),
    st.builds(Level, positive, ratio, positive, positive, ratio),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    positive,
)
def test_any_species_survives_its_text_to_the_last_bit(wood, leaf, name, index):
    species = Species(
        name,
        wood,
        wood,
        leaf,
        latin_name=name,
        aliases=(name, "[a, b]"),
        leaf_area_index=index,
        growth=Growth("palm", 3.0, 0.2, branch_angle=(90.5, 1.25)),
        provenance=Provenance(notes=name + ' "quoted"\nnext line', tree_height=(1.0, 2.5)),
    )
    assert schema.parse_species(schema.species_text(species).encode(), "text") == species


@given(st.binary(max_size=400))
def test_any_bytes_are_a_species_or_a_named_error(content):
    try:
        schema.parse_species(content, "bytes")
    except ValueError as error:
        assert str(error).startswith("bytes: ")


nested = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@given(st.sampled_from(["trunk", "growth", "provenance", "leaf_area_index", "aliases"]), nested)
def test_any_value_in_any_table_is_taken_or_refused_by_its_path(key, value):
    raw = tables() | {key: value}
    try:
        schema.species_from_tables(raw, "raw")
    except ValueError as error:
        assert all(line.startswith(f"raw: {key}") for line in str(error).splitlines())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trunk__zetta": 0.1}, r"mine\.toml: trunk\.zetta: no such key"),
        ({"trunk__beta": -1.0}, r"trunk\.beta: input should be greater than 0, got -1\.0"),
        ({"branch__zeta": math.nan}, r"branch\.zeta: .*got nan"),
        ({"foliage__rho": 0.0}, r"foliage\.rho: input should be greater than 0"),
        ({"foliage__rho": None}, r"foliage\.rho: is missing"),
        ({"trunk__propagation": 1.5}, r"trunk\.propagation: .*less than or equal to 1"),
        ({"trunk__gamma": "0.1"}, r"trunk\.gamma: .*number, got '0\.1'"),
        ({"trunk": None}, r"trunk: is missing"),
        ({"growth__habit": "bushy"}, r"growth\.habit: "),
        ({"growth__outline": [[0.0, 1.0], [0.5, 1.0]]}, r"growth\.outline: expected \(t, r\)"),
        ({"schema_version": 99}, r"schema_version: 99 is not known here"),
        ({"schema_version": "2"}, r"schema_version: expected an integer"),
        ({"schema_version": None}, r"schema_version: expected an integer, got None"),
    ],
)
def test_an_error_names_the_file_and_the_path_inside_it(changes, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        wg.load_species(written(tmp_path, **changes))


def test_every_fault_gets_its_own_line(tmp_path):
    path = written(tmp_path, trunk__beta=0.0, foliage__zeta=-1.0)
    with pytest.raises(ValueError) as caught:
        wg.load_species(path)
    assert [line.split(": ")[1] for line in str(caught.value).splitlines()] == [
        "trunk.beta",
        "foliage.zeta",
    ]


def test_a_text_that_is_no_toml_is_refused_with_its_place(tmp_path):
    path = tmp_path / "broken.toml"
    path.write_text("name = \n")
    with pytest.raises(ValueError, match=r"broken\.toml: not a TOML text: .*line 1"):
        wg.load_species(path)
    for text in (b"\xff\xfe", b"a=" + b"[" * 100_000, b"a=" + b"1" * 5000):
        path.write_bytes(text)
        with pytest.raises(ValueError, match=r"broken\.toml: not a TOML text"):
            wg.load_species(path)


def test_a_preset_with_a_byte_order_mark_is_read(tmp_path):
    path = tmp_path / "oak.toml"
    wg.load_species("oak").save(path)
    plain = wg.load_species(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert wg.load_species(path) == plain
    assert wg.check_species(path, claims=False).species == plain


def test_a_preset_of_version_1_still_loads_and_is_written_as_the_newest(tmp_path):
    old = wg.load_species(OLD)
    assert old.name == "oak" and old.trunk.beta == 5.2e5 and old.growth is None
    new = old.save(tmp_path / "new.toml")
    assert f"schema_version = {schema.SCHEMA_VERSION}\n" in new.read_text()
    assert wg.load_species(new) == old
    assert check_species(OLD).schema_version == 1


def test_the_shipped_json_schema_is_that_of_the_code():
    text = (resources.files("windgrove.species") / "species.schema.json").read_text()

    def plain(part):
        """Without the type that some versions of pydantic write beside a constant."""
        if isinstance(part, dict):
            return {k: plain(v) for k, v in part.items() if not (k == "type" and "const" in part)}
        return [plain(item) for item in part] if isinstance(part, list) else part

    assert plain(json.loads(text)) == plain(schema.json_schema())


def test_checking_a_file_recomputes_its_claims(tmp_path):
    check = check_species("oak")
    assert check.holds and len(check.claims) == 8 and not check.remarks
    assert "ok: frequency: claimed 0.242" in str(check)
    soft = written(tmp_path, trunk__beta=1.0)
    check = check_species(soft)
    assert not check.holds and "MISSED: frequency" in str(check)
    assert check.remarks[0].startswith("trunk.beta: 1 kg m^-1 s^-2 is far from")


def test_the_difference_is_told_in_words():
    oak = wg.load_species("oak")
    assert describe_difference(oak, oak) == ()
    other = oak.replace(
        trunk={"beta": 4 * oak.trunk.beta, "zeta_bare": None},
        foliage={"gamma": 0.0},
        leaf_area_index=5.0,
    )
    assert describe_difference(oak, other) == (
        "trunk.beta: 1.348e+06 -> 5.392e+06, x 4: stiffer, its own frequency x 2",
        "trunk.zeta_bare: 0.039 -> none",
        f"foliage.gamma: {oak.foliage.gamma:g} -> 0: caught less by the wind",
        "leaf_area_index: 4 -> 5 m2/m2",
    )


def test_a_season_lies_between_bare_and_full_damping():
    oak = wg.load_species("oak")
    half = oak.at_leaf_fraction(0.5)
    assert half.trunk.zeta == pytest.approx((0.086 + 0.039) / 2)
    assert half.foliage == oak.foliage
    pine = wg.load_species("pine")
    assert pine.at_leaf_fraction(0.0) == pine
    with pytest.raises(ValueError, match="fraction"):
        oak.at_leaf_fraction(1.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"height": 0}, "height"),
        ({"dbh": math.nan}, "dbh"),
        ({"crown_base": 1.0}, "crown_base"),
        ({"twigs": 0}, "twigs"),
        ({"outline": ((0, 1), (0.5, 1), (0.4, 1), (1, 0))}, "outline"),
        ({"outline": ((0, 0), (1, 0))}, "outline"),
    ],
)
def test_a_form_that_cannot_grow_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Growth(**({"habit": "decurrent", "height": 10.0, "dbh": 0.2} | change))
