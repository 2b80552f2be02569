"""Measuring: frequencies, decays, spectra, cycles, regressions."""

from .decay import DecayFit, fit_decay
from .decay_checks import DecayEstimate, half_power, linear_prediction, log_decrement

__all__ = [
    "DecayEstimate",
    "DecayFit",
    "fit_decay",
    "half_power",
    "linear_prediction",
    "log_decrement",
]
