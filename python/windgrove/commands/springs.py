"""How the springs are stepped: what an advice may name."""

from __future__ import annotations

import argparse
from typing import Any


def add_springs(parser: argparse.ArgumentParser) -> None:
    """The options of `Sway` that keep branches from being thrown round."""
    group = parser.add_argument_group("stepping the springs")
    group.add_argument(
        "--clamp",
        choices=("source", "compensated", "exponential", "none"),
        default="source",
        help="what is done with stiffness that a step cannot carry (default: source)",
    )
    group.add_argument(
        "--substeps", type=int, default=1, metavar="N", help="steps in each frame (default: 1)"
    )
    group.add_argument(
        "--drag-law",
        type=drag_law,
        default="linear",
        metavar="LAW",
        help="linear, quadratic, or a Vogel exponent E: load as speed^(2 + E) (default: linear)",
    )
    group.add_argument(
        "--no-inertia", action="store_true", help="no lag of a branch behind what carries it"
    )


def drag_law(text: str) -> str | float:
    """``linear``, ``quadratic`` or a number."""
    if text in ("linear", "quadratic"):
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected linear, quadratic or a number, got {text!r}"
        ) from None


def springs(options: argparse.Namespace) -> dict[str, Any]:
    """What was given, as arguments of `Sway`."""
    return {
        "clamp": options.clamp,
        "substeps": options.substeps,
        "drag_law": options.drag_law,
        "inertia": not options.no_inertia,
    }
