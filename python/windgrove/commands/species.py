"""List, show, check and compare species presets.

windgrove species list
windgrove species show oak
windgrove species check my-oak.toml
windgrove species diff oak my-oak.toml
"""

from __future__ import annotations

import argparse
from typing import Any

from .common import add_json, print_json, text_table
from .words import translate

ACTIONS = {"list": 0, "show": 1, "check": 1, "diff": 2}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=list(ACTIONS), help="what to do with presets")
    parser.add_argument("names", nargs="*", metavar="SPECIES", help="shipped name or .toml file")
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    from ..species import load_species

    wanted = ACTIONS[options.action]
    if len(options.names) != wanted:
        raise ValueError(f"{options.action}: expected {wanted} species, got {len(options.names)}")
    if options.action == "check":
        _check(options.names[0], options.json)
        return
    loaded = [load_species(name) for name in options.names]
    if options.action == "list":
        _list(options.json)
    elif options.action == "show":
        _show(loaded[0], options.json)
    else:
        _diff(loaded[0], loaded[1], options.json)


def _list(as_json: bool) -> None:
    from ..species import load_species, species_names

    found = [load_species(name) for name in species_names()]
    if as_json:
        print_json([{"name": s.name, "latin_name": s.latin_name} for s in found])
        return
    rows = [(s.name, s.latin_name, s.provenance.calibrated_on or "-") for s in found]
    print(text_table(("name", "latin name", "calibrated on"), rows))


def _levels(species: Any) -> list[tuple[Any, ...]]:
    return [
        (name, level.beta, level.zeta, level.gamma, level.rho, level.propagation)
        for name in ("trunk", "branch", "foliage")
        for level in [species.level(name)]
    ]


def _show(species: Any, as_json: bool) -> None:
    if as_json:
        print_json(species)
        return
    print(f"{species.name} ({species.latin_name})" if species.latin_name else species.name)
    header = ("level", "beta (kg/m/s2)", "zeta", "gamma (kg/m2/s)", "rho (kg/m2)", "propagation")
    print(text_table(header, _levels(species)))
    print(f"leaf area index: {species.leaf_area_index:g} m2/m2")
    source = species.provenance
    for label, text in (
        ("source", source.source),
        ("calibrated on", source.calibrated_on),
        ("tree height (m)", source.tree_height and "{:g} to {:g}".format(*source.tree_height)),
        ("date", source.date),
        ("notes", source.notes),
    ):
        if text:
            print(f"{label}: {text}")


def _check(name: str, as_json: bool) -> None:
    from ..species import check_species

    check = check_species(name)
    if as_json:
        claims = [
            {"quantity": c.claim.quantity, "claimed": c.claim.value, "seen": c.seen}
            for c in check.claims
        ]
        found = {"name": check.species.name, "valid": True, "holds": check.holds}
        print_json({"file": name, **found, "claims": claims, "remarks": list(check.remarks)})
    else:
        print(translate(str(check)))


def _diff(first: Any, second: Any, as_json: bool) -> None:
    from ..species import describe_difference

    lines = describe_difference(first, second)
    if as_json:
        print_json(lines)
    else:
        print("\n".join(lines) if lines else "the same")
