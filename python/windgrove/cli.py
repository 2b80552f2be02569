"""The command ``windgrove``. Each command is a file in `windgrove.commands`, loaded when it is run.

Exit code 0, or 2 with one line on stderr that says what to change.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

COMMANDS = {
    "demo": "sway a tree in the nested wind, record, sweep, draw: the main job, in a minute",
    "simulate": "run a tree in a wind and record it",
    "sweep": "vary beta, zeta and gamma over one tree in one wind",
    "calibrate": "fit a species to measured frequencies, damping and sway",
    "info": "what a tree file or a recording holds, and what was repaired",
    "plot": "draw a tree, a recording or a sweep into a picture",
    "species": "list, show, check and compare presets",
}
TRACEBACK = "WINDGROVE_TRACEBACK"


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line instead of printing the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    """The parser with every command; the commands' own options are added when one is named."""
    top = Parser(
        prog="windgrove",
        description="Fluid wind, branch springs, scanned trees, recordings and calibration.",
        epilog="A first look: windgrove demo. Every command has its own --help.",
    )
    top.add_argument(
        "--version", action="store_true", help="print the version and how it was built"
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, summary in COMMANDS.items():
        commands.add_parser(name, help=summary, add_help=False)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code, 0 or 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    name = next((word for word in given if not word.startswith("-")), None)
    try:
        if name not in COMMANDS or given[0] != name:
            return _without_command(given)
        command = importlib.import_module(f".commands.{name}", __package__)
        own = Parser(prog=f"windgrove {name}", description=command.__doc__)
        own.formatter_class = argparse.RawDescriptionHelpFormatter
        command.add_arguments(own)
        command.run(own.parse_args(given[1:]))
        sys.stdout.flush()
    except SystemExit as stop:
        return 0 if stop.code in (None, 0) else 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _complain(name, "stopped; what had been recorded is kept")
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        return _complain(name, _one_line(error))
    return 0


def _without_command(given: list[str]) -> int:
    top = parser()
    options = top.parse_args(given)
    if options.version:
        from .build import build_info

        print(build_info())
        return 0
    top.print_help()
    return 2 if given else 0


def _one_line(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"there is no file {error.filename!r}"
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    text = " ".join(str(error).split())
    if isinstance(error, (ValueError, TypeError, OSError, ArithmeticError, ImportError)) and text:
        return text
    kind = type(error).__name__
    return f"unexpected {kind}: {text or 'no message'} (set {TRACEBACK}=1 to see where)"


def _complain(name: str | None, text: str) -> int:
    print(f"windgrove {name}: {text}" if name else f"windgrove: {text}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    raise SystemExit(main())
