"""Finding a species: a shipped name, one of its aliases, or a TOML file."""

from __future__ import annotations

import difflib
import os
from functools import cache
from importlib import resources

from .species import Species


def load_species(species: str | os.PathLike[str] | Species) -> Species:
    """A species preset by name or from a TOML file.

    Parameters
    ----------
    species : str, path or Species
        A shipped name such as ``"oak"`` or ``"Scots pine"`` (case, spaces and hyphens do not
        matter; Latin names and common aliases work), or the path of a ``.toml`` file. A `Species`
        is returned as it is.

    Returns
    -------
    Species

    Raises
    ------
    ValueError
        There is no such name (the message lists near ones) or file, or the file is not a valid
        preset: the message names the path inside it, e.g. ``oak.toml: trunk.zetta: no such key``.

    Examples
    --------
    >>> load_species("Quercus robur").name
    'oak'
    """
    if isinstance(species, Species):
        return species
    if not isinstance(species, (str, os.PathLike)):
        raise TypeError(f"species: expected a name, a path or a Species, got {species!r}")
    text = os.fspath(species)
    if not isinstance(species, str) or text.endswith(".toml") or os.sep in text:
        from .schema import read_species

        return read_species(text)
    return _shipped(_find(text))


def species_names() -> tuple[str, ...]:
    """Names of the shipped species, sorted."""
    folder = resources.files(__package__) / "presets"
    return tuple(
        sorted(
            item.name[: -len(".toml")] for item in folder.iterdir() if item.name.endswith(".toml")
        )
    )


def _find(name: str) -> str:
    key = _key(name)
    if key in species_names():
        return key
    known = _aliases()
    if key in known:
        return known[key]
    near = difflib.get_close_matches(key, [*species_names(), *known], n=3, cutoff=0.6)
    hint = (
        f"did you mean {' or '.join(dict.fromkeys(known.get(n, n) for n in near))}? "
        if near
        else ""
    )
    raise ValueError(
        f"species: there is no preset {name!r}; {hint}shipped: {', '.join(species_names())}; "
        "or give the path of a .toml file"
    )


def _key(name: str) -> str:
    return "_".join(name.strip().lower().replace("-", " ").replace("_", " ").split())


@cache
def _aliases() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in species_names():
        species = _shipped(name)
        for alias in (*species.aliases, species.latin_name):
            if alias:
                found.setdefault(_key(alias), name)
    return found


@cache
def _shipped(name: str) -> Species:
    from .schema import parse_species

    text = (resources.files(__package__) / "presets" / f"{name}.toml").read_bytes()
    return parse_species(text, f"{name}.toml")
