"""Species presets: what a practitioner tunes, by level."""

from .claims import CheckedClaim, check_claims
from .compare import describe_difference
from .growth import Growth
from .inspect import SpeciesCheck, check_species
from .load import load_species, species_names
from .species import LEVELS, Claim, Level, Provenance, Species

__all__ = [
    "LEVELS",
    "CheckedClaim",
    "Claim",
    "Growth",
    "Level",
    "Provenance",
    "Species",
    "SpeciesCheck",
    "check_claims",
    "check_species",
    "describe_difference",
    "load_species",
    "species_names",
]
