"""The TOML form of a species: schema, versions, errors that name the path inside the file.

Imported when a preset is read or written, not before: pydantic takes a tenth of a second to load.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .. import checks
from ..files import write_whole
from .growth import Growth
from .species import LEVELS, Claim, Level, Provenance, Species

SCHEMA_VERSION = 2
MOST_BYTES = 2**18  # of a preset (shipped: 4 kB); the TOML parser is quadratic on some texts

Positive = Annotated[float, Field(gt=0, strict=True)]
NotNegative = Annotated[float, Field(ge=0, strict=True)]
Fraction = Annotated[float, Field(ge=0, le=1, strict=True)]
Real = Annotated[float, Field(strict=True)]
Count = Annotated[int, Field(ge=1, strict=True)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class WoodTable(_Table):
    """Parameters of the trunk or of the branches."""

    beta: Positive = Field(description="stiffness, kg m^-1 s^-2: k = beta V / l^2")
    zeta: NotNegative = Field(description="damping ratio")
    zeta_bare: NotNegative | None = Field(default=None, description="damping ratio without leaves")
    gamma: NotNegative = Field(description="drag, kg m^-1 s^-1 per m2: D = 2 gamma sqrt(l V / pi)")
    propagation: Fraction = Field(
        default=1.0, description="how much it is moved by its children, 0 to 1"
    )


class FoliageTable(_Table):
    """Parameters of the bundles of leaves."""

    beta: Positive = Field(description="stiffness, kg m^-1 s^-2: k = beta sqrt(A)")
    zeta: NotNegative = Field(description="damping ratio")
    gamma: NotNegative = Field(description="drag, kg m^-1 s^-1 per m2: D = gamma A")
    rho: Positive = Field(description="mass per area, kg/m2")
    propagation: Fraction = Field(
        default=1.0, description="how much it is moved by its children, 0 to 1"
    )


class ClaimTable(_Table):
    """A figure that the preset shows on trees grown at its own size."""

    quantity: Literal[
        "frequency",
        "damping_ratio",
        "bare_over_leaf_frequency",
        "leaf_over_bare_load",
        "sway_deg",
        "branch_sway_deg",
        "foliage_sway_deg",
        "large_branch_over_trunk_frequency",
    ]
    value: Positive
    source: str = Field(description="where it was published or what it was derived from")
    borrowed: bool = Field(default=False, description="of another species or from a law")
    leaf_fraction: Fraction = Field(default=1.0, description="the season, 1 in full leaf")
    wind_speed: NotNegative = Field(default=0.0, description="m/s, of sway_deg")


class ProvenanceTable(_Table):
    """Where the numbers come from."""

    source: str = Field(default="", description="where the figures were published")
    calibrated_on: str = Field(default="", description="the tree or trees the preset was fitted to")
    tree_height: tuple[Positive, Positive] | None = Field(
        default=None, description="m, lowest and highest tree it may be used for"
    )
    date: str = Field(default="", description="day of the calibration, YYYY-MM-DD")
    notes: str = Field(default="", description="what was borrowed, what is not known")
    claims: tuple[ClaimTable, ...] = Field(default=(), description="what it was calibrated to")


class GrowthTable(_Table):
    """The form of the species, for grow_tree; see windgrove.species.growth.Growth."""

    habit: Literal["decurrent", "excurrent", "palm", "shrub"]
    height: Positive = Field(description="m, a typical tree")
    dbh: Positive = Field(description="m, its stem's diameter at 1.3 m")
    crown_base: Fraction | None = Field(default=None, description="lowest branch over height")
    crown_width: Positive | None = Field(default=None, description="crown diameter over height")
    outline: tuple[tuple[NotNegative, NotNegative], ...] | None = Field(
        default=None,
        description="(t, r): half width r of the crown, t from 0 at its base to 1 at the top",
    )
    leader: Fraction | None = Field(default=None, description="how far the stem goes up the crown")
    twigs: Count | None = Field(default=None, description="points that the crown is filled with")
    shell: Fraction | None = Field(default=None, description="how empty the inside of the crown is")
    wander: Real | None = Field(default=None, description="how crooked shoots are")
    lift: Real | None = Field(default=None, description="shoots turn up (> 0) or hang (< 0)")
    rise: Real | None = Field(default=None, description="the same near the stem alone")
    stems: Count | None = Field(default=None, description="of a shrub")
    whorls: Count | None = Field(default=None, description="of an excurrent tree")
    per_whorl: Count | None = Field(
        default=None, description="branches of a whorl, fronds of a palm"
    )
    side_shoots: NotNegative | None = Field(
        default=None, description="on the longest whorl branches"
    )
    branch_angle: tuple[NotNegative, NotNegative] | None = Field(
        default=None, description="degrees from the vertical, lowest and topmost"
    )
    droop: Real | None = Field(default=None, description="how much fronds and side shoots hang")
    shoot_share: Fraction | None = Field(default=None, description="shoots' part of the pipe model")


class SpeciesFile(_Table):
    """One species preset of windgrove."""

    schema_version: Literal[2]
    name: str = Field(min_length=1)
    latin_name: str = ""
    aliases: tuple[str, ...] = ()
    leaf_area_index: Positive = Field(
        default=3.0, description="m2 of leaf per m2 of ground in full leaf"
    )
    trunk: WoodTable
    branch: WoodTable
    foliage: FoliageTable
    growth: GrowthTable | None = None
    provenance: ProvenanceTable = ProvenanceTable()


# From each old version to the next, on the raw tables.
def _from_1_to_2(raw: dict[str, Any]) -> dict[str, Any]:
    """Version 2 added what is optional: zeta_bare and the growth table."""
    return {**raw, "schema_version": 2}


MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _from_1_to_2}


def read_species(path: str | os.PathLike[str]) -> Species:
    """Read and check one TOML file. ValueError names the file and the path inside it."""
    where = os.fspath(path)
    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise ValueError(f"species: there is no file {where!r}") from None
    if len(text) > MOST_BYTES:
        raise ValueError(f"{where}: not a preset: larger than {MOST_BYTES} bytes")
    return parse_species(text, where)


def parse_species(text: bytes, where: str) -> Species:
    """The species of a TOML text; `where` stands in front of every error."""
    try:
        raw = tomllib.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # the parser's own are ValueErrors too
        raise ValueError(f"{where}: not a TOML text: {error}") from None
    return species_from_tables(raw, where)


def species_from_tables(raw: dict[str, Any], where: str) -> Species:
    """The species of tables as `tomllib` gives them, of any schema version."""
    try:
        checked = SpeciesFile.model_validate(_migrated(raw, where))
    except ValidationError as error:
        raise ValueError(_message(error, where)) from None
    values = {name: Level(**getattr(checked, name).model_dump()) for name in LEVELS}
    return Species(
        growth=_growth(checked.growth, where),
        name=checked.name,
        latin_name=checked.latin_name,
        aliases=checked.aliases,
        leaf_area_index=checked.leaf_area_index,
        provenance=_provenance(checked.provenance),
        **values,
    )


def _provenance(table: ProvenanceTable) -> Provenance:
    values = table.model_dump()
    claims = tuple(Claim(**claim) for claim in values.pop("claims"))
    return Provenance(claims=claims, **values)


def _growth(table: GrowthTable | None, where: str) -> Growth | None:
    if table is None:
        return None
    try:
        return Growth(**table.model_dump(exclude_none=True))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: growth.{error}") from None


def _migrated(raw: dict[str, Any], where: str) -> dict[str, Any]:
    version = raw.get("schema_version")
    if type(version) is not int:
        raise ValueError(f"{where}: schema_version: expected an integer, got {version!r}")
    if version > SCHEMA_VERSION or (version < SCHEMA_VERSION and version not in MIGRATIONS):
        raise ValueError(
            f"{where}: schema_version: {version} is not known here; the newest is {SCHEMA_VERSION}"
        )
    while version < SCHEMA_VERSION:
        raw = MIGRATIONS[version](raw)
        version += 1
    return raw


def _shown(part: str | int) -> str:
    """A key as the file would write it: quoted where it is no bare key."""
    text = str(part)
    bare = text.replace("_", "a").replace("-", "a")
    return text if bare.isascii() and bare.isalnum() else ascii(text)


def _message(error: ValidationError, where: str) -> str:
    lines = []
    for item in error.errors():
        path = ".".join(_shown(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            text = f"no such key (value {item['input']!r})"
        elif item["type"] == "missing":
            text = "is missing"
        else:
            text = f"{item['msg'][0].lower()}{item['msg'][1:]}, got {item['input']!r}"
        lines.append(f"{where}: {path}: {text}")
    return "\n".join(lines)


def species_tables(species: Species) -> dict[str, Any]:
    """The tables of a species, newest schema version, as tomli_w writes them."""
    tables: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "name": species.name}
    if species.latin_name:
        tables["latin_name"] = species.latin_name
    if species.aliases:
        tables["aliases"] = list(species.aliases)
    tables["leaf_area_index"] = float(species.leaf_area_index)
    for name in LEVELS:
        level = species.level(name)
        keys = ["beta", "zeta", "zeta_bare", "gamma", "rho", "propagation"]
        if name == "foliage":
            keys.remove("zeta_bare")
        else:
            keys.remove("rho")
        values = {key: getattr(level, key) for key in keys}
        tables[name] = {key: float(value) for key, value in values.items() if value is not None}
    if species.growth is not None:
        growth = species.growth
        size: dict[str, Any] = {"habit": growth.habit, "height": growth.height, "dbh": growth.dbh}
        tables["growth"] = size | _shortened(growth, Growth(**size))
    provenance: dict[str, Any] = {}
    for key, value in vars(species.provenance).items():
        if key == "claims":
            value = [_shortened(claim, Claim("", 0.0, "")) for claim in value]
        if value:
            provenance[key] = list(value) if isinstance(value, tuple) else value
    if provenance:
        tables["provenance"] = provenance
    return tables


def _shortened(thing: Any, plain: Any) -> dict[str, Any]:
    """The fields that differ from those of `plain`."""
    table: dict[str, Any] = {}
    for key, value in vars(thing).items():
        if value != getattr(plain, key):
            if isinstance(value, tuple):
                value = [list(item) if isinstance(item, tuple) else item for item in value]
            table[key] = value
    return table


def species_text(species: Species) -> str:
    """The species as TOML text, short arrays on one line."""
    lines: list[str] = []
    array: list[str] = []
    for line in tomli_w.dumps(species_tables(species)).rstrip("\n").split("\n"):
        if not array and not line.endswith(" = ["):
            lines.append(line)
            continue
        array.append(line)
        if line == "]":
            text = " ".join(part.strip() for part in array)
            text = text.replace("[ ", "[").replace(", ]", "]")
            short = len(text) <= 110 and tomllib.loads(text) == tomllib.loads("\n".join(array))
            lines += [text] if short else array
            array = []
    return "\n".join(lines) + "\n"


def save_species(species: Species, path: str | os.PathLike[str]) -> Path:
    """Write the TOML text beside its place and rename it there: a crash leaves the old file."""
    target = checks.path(path, "path")
    write_whole(target, species_text(species).encode("utf-8"))
    return target


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a preset, as shipped in ``species/species.schema.json``."""
    schema = SpeciesFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
