"""Errors and warnings of our own; the rest is ValueError or TypeError naming the argument."""

from __future__ import annotations


class TreeFormatError(ValueError):
    """A tree file that cannot be used: the message names file, line or row, and the reason.

    Attributes
    ----------
    path : str
        The file.
    row : int or None
        0-based row of the table (or tree line) that is at fault, where there is one.
    reason : str
        What is wrong and what to do.
    """

    def __init__(self, path: object, reason: str, *, row: int | None = None) -> None:
        self.path = str(path)
        self.row = row
        self.reason = reason
        where = f"{self.path}: " if row is None else f"{self.path}: row {row}: "
        super().__init__(where + reason)

    def __reduce__(self) -> tuple:
        return (_restore_format_error, (self.path, self.reason, self.row))


def _restore_format_error(path: str, reason: str, row: int | None) -> TreeFormatError:
    return TreeFormatError(path, reason, row=row)


class Diverged(ArithmeticError):
    """A state that is not finite any more.

    Attributes
    ----------
    step : int
        Step at which it was found, counted from the start of the run.
    instance, branch : int
        Where.
    parameter : str
        The quantity that is not finite, or the parameter at fault.
    """

    def __init__(
        self, step: int, instance: int, branch: int, parameter: str, hint: str = ""
    ) -> None:
        self.step = step
        self.instance = instance
        self.branch = branch
        self.parameter = parameter
        self.hint = hint
        super().__init__(
            f"step {step}: instance {instance}, branch {branch}: {parameter} is not finite"
            + (f"; {hint}" if hint else "")
        )

    def __reduce__(self) -> tuple:
        return (Diverged, (self.step, self.instance, self.branch, self.parameter, self.hint))


class UnusualValue(UserWarning):
    """A value far from what trees and winds have, such as a slip of a unit; it is used as given."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class NotConverged(UserWarning):
    """An iteration reached its cap before its tolerance; the best result was returned.

    Attributes
    ----------
    what : str
        What was solved, and how.
    residual : float
        Norm of the solver's residual over the norm of the right side, as returned.
    tolerance : float
        What was asked for.
    iterations : int
        How many were done.
    """

    def __init__(self, what: str, residual: float, tolerance: float, iterations: int) -> None:
        self.what = what
        self.residual = residual
        self.tolerance = tolerance
        self.iterations = iterations
        if not residual > tolerance:  # a NaN somewhere, or one that a maximum passed over
            super().__init__(f"{what}: the residual is not a number; is the velocity finite?")
            return
        super().__init__(
            f"{what}: residual {residual:.2e} after {iterations} iterations, above the tolerance "
            f"{tolerance:.2e}; allow more iterations or a larger tolerance"
        )

    def __reduce__(self) -> tuple:
        return (NotConverged, (self.what, self.residual, self.tolerance, self.iterations))
