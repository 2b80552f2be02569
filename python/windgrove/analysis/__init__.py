"""Measuring: frequencies, decays, spectra, cycles, regressions. Modules load when first used."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "Cycles": ".cycles",
    "DecayEstimate": ".decay_checks",
    "DecayFit": ".decay",
    "DiscreteResponse": ".frequencies",
    "LinearFit": ".regression",
    "PublishedLaw": ".laws",
    "coherence": ".spectra",
    "discrete_response": ".frequencies",
    "fit_decay": ".decay",
    "fit_line": ".regression",
    "frequency_regression": ".regression",
    "half_power": ".decay_checks",
    "linear_prediction": ".decay_checks",
    "log_decrement": ".decay_checks",
    "natural_frequencies": ".frequencies",
    "power_spectrum": ".spectra",
    "published_laws": ".laws",
    "rainflow": ".cycles",
    "realised": ".frequencies",
    "transfer_function": ".spectra",
    "tree_sizes": ".regression",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'windgrove.analysis' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
