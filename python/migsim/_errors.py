"""Errors, with the words, places and hints of the command."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One error: its description, its place and its remedy."""

    #: The description of the error, in a sentence.
    message: str
    #: The file or the flag.
    source: str | None = None
    #: The line in the file, counted from 1.
    line: int | None = None
    #: The column in the line, counted from 1.
    column: int | None = None
    #: The key in the settings.
    key: str | None = None
    #: The remedy.
    hint: str | None = None


class Error(Exception):
    """The exception of faulty settings, files or policies, and of a run that cannot continue.

    >>> import migsim
    >>> try:
    ...     migsim.run(app="lu", n=100, procs=4, platform="ufrgz")
    ... except migsim.Error as error:
    ...     print(error.problems[0].message)
    unknown platform `ufrgz`: there is neither a file nor a built-in platform of this name
    """

    def __init__(self, text: str, problems: Iterable[tuple[Any, ...]] = ()) -> None:
        super().__init__(text)
        #: All problems that were found.
        self.problems: list[Problem] = [Problem(*problem) for problem in problems]

    def __reduce__(self) -> tuple[Any, ...]:
        return (Error, (str(self), [astuple(problem) for problem in self.problems]))


def warn(notes: Sequence[str]) -> None:
    """Shows notes as warnings of the line that called the package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("migsim."):
        frame, level = frame.f_back, level + 1
    for note in notes:
        warnings.warn(note, stacklevel=level)
