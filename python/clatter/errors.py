"""What goes wrong, with the program's own words."""

from typing import List, NamedTuple


class Diagnostic(NamedTuple):
    """One mistake and its place; line 0 where there is none."""

    file: str
    line: int
    column: int
    message: str
    hint: str


class Error(Exception):
    """Anything Clatter reports."""


class InputError(Error, ValueError):
    """The model or a request is wrong; `diagnostics` tells where and the nearest valid word."""

    diagnostics: List[Diagnostic] = []


class SolveError(Error, RuntimeError):
    """The computation cannot go on: `kind` of the diagnosis, `time`, names of the `elements`, `advice`."""

    kind: str = ""
    time: float = 0.0
    elements: List[str] = []
    advice: str = ""


class ResultError(Error, OSError):
    """A file that is not a readable result, or a result that cannot be written."""
