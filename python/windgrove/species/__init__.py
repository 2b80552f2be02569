"""Species presets: what a practitioner tunes, by level."""

from .compare import describe_difference
from .growth import Growth
from .load import load_species, species_names
from .species import LEVELS, Level, Provenance, Species

__all__ = [
    "LEVELS",
    "Growth",
    "Level",
    "Provenance",
    "Species",
    "describe_difference",
    "load_species",
    "species_names",
]
