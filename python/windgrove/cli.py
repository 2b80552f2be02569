"""The command ``windgrove``. Each command is a file in `windgrove.commands`, loaded when it is run.

Exit code 0, or 2 with one line on stderr that says what to change; 130 where Ctrl-C stopped it.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import os
import re
import signal
import sys
import warnings
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NoReturn

from .commands.words import translate
from .errors import UnusualValue

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
STOPPED = 128 + signal.SIGINT


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
    """Run one command; the exit code, 0, 2 or 130."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stdout is None:  # closed by the shell, `>&-`
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            return main(given)
    name = next((word for word in given if not word.startswith("-")), None)
    try:
        code = _run(name, given)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _print_no_more()
        return 0
    except KeyboardInterrupt:
        _complain(name, "stopped; a recording that had begun is kept")
        return STOPPED
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            _print_no_more()
        return _complain(name, translate(_one_line(error), _options(name), refusal=True))


def _run(name: str | None, given: list[str]) -> int:
    if name not in COMMANDS or given[0] != name:
        return _without_command(given)
    command = importlib.import_module(f".commands.{name}", __package__)
    own = _parser_of(name)
    try:
        with _remarks_in_lines():
            command.run(own.parse_args(_with_negative_lists(given[1:])))
    except SystemExit as stop:
        return 0 if stop.code in (None, 0) else 2
    return 0


@contextlib.contextmanager
def _remarks_in_lines() -> Iterator[None]:
    """Unusual values as a line each, without the place in the code."""
    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=UnusualValue)
        show = warnings.showwarning

        def line(message: Warning | str, category: type[Warning], *where: Any) -> None:
            if issubclass(category, UnusualValue):
                print(f"remark: {message}", file=sys.stderr)
            else:
                show(message, category, *where)

        warnings.showwarning = line  # type: ignore[assignment]
        yield


def _print_no_more() -> None:
    """What is still in the buffer has nowhere to go; Python would complain of it at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser_of(name: str) -> Parser:
    command = importlib.import_module(f".commands.{name}", __package__)
    own = Parser(prog=f"windgrove {name}", description=command.__doc__)
    own.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_arguments(own)
    return own


def _options(name: str | None) -> Collection[str]:
    return _parser_of(name)._option_string_actions if name in COMMANDS else {}


def _with_negative_lists(words: list[str]) -> list[str]:
    """``--gamma -1,2`` as ``--gamma=-1,2``: argparse takes such a list for an option."""
    joined: list[str] = []
    for word in words:
        option = joined[-1] if joined else ""
        if re.match(r"-[\d.][^\s]*,", word) and option.startswith("--") and "=" not in option:
            joined[-1] = f"{option}={word}"
        else:
            joined.append(word)
    return joined


def _without_command(given: list[str]) -> int:
    top = parser()
    try:
        options = top.parse_args(given)
    except SystemExit as stop:
        return 0 if stop.code in (None, 0) else 2
    if options.version:
        from .build import build_info

        print(build_info())
        return 0
    top.print_help()
    return 2 if given else 0


def _one_line(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError) and error.filename:
        parent = os.path.dirname(error.filename)
        if parent and not os.path.isdir(parent):
            return f"there is no folder {parent!r} (for {error.filename!r})"
        return f"there is no file or folder {error.filename!r}"
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    # An error of several lines lists several faults.
    lines = [" ".join(line.split()) for line in str(error).splitlines()]
    text = ("; " if isinstance(error, ValueError) else " ").join(line for line in lines if line)
    if isinstance(error, (ValueError, TypeError, OSError, ArithmeticError, ImportError)) and text:
        return text
    kind = type(error).__name__
    return f"unexpected {kind}: {text or 'no message'} (set {TRACEBACK}=1 to see where)"


def _complain(name: str | None, text: str) -> int:
    print(f"windgrove {name}: {text}" if name else f"windgrove: {text}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    raise SystemExit(main())
