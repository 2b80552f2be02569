"""Species presets: what a practitioner tunes, by level."""

from .load import load_species, species_names
from .species import LEVELS, Level, Provenance, Species

__all__ = ["LEVELS", "Level", "Provenance", "Species", "load_species", "species_names"]
