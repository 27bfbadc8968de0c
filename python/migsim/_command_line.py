"""Calls the command in this process or beside it; its errors become exceptions, its notes warnings."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import _core
from ._errors import Error
from ._plugin import plugins
from ._progress import bar


class Told(NamedTuple):
    """What a command printed, and its notes for the user."""

    text: str
    notes: list[str]


def call_beside(arguments: Sequence[str], folder: str | None = None, progress: Any = None) -> Told:
    """Runs a long command in a separate process, or in this one if there are plug-ins in Python; Ctrl-C ends both.

    Runs that fail are rows of the results, and a warning tells of them. `folder` is that of the results, whose runs the bar counts.

    Raises
    ------
    migsim.Error
        The command failed; the error has its message.
    """
    tell, close = bar(progress, "runs")
    on_poll = (lambda: tell(*_counted(Path(folder)))) if tell and folder else (lambda: None)
    try:
        if plugins():
            code, out, errors = _core.command(["migsim", *arguments], False, plugins(), on_poll)
        else:
            code, out, errors = _beside(arguments, on_poll)
    finally:
        close()
    if code > 1 or (code == 1 and not out):
        raise _error(arguments, code, errors)
    # A note or a failure has hints below it.
    parts = re.split(r"^(?=\S)", errors.replace("\r", "\n"), flags=re.MULTILINE)
    notes = [part[6:].strip() for part in parts if part.startswith("note: ")]
    notes += [part.strip() for part in parts if "runs failed" in part]
    warn(notes)
    return Told(out, notes)


def warn(notes: Sequence[str]) -> None:
    """Shows notes as warnings of the line that called the package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("migsim."):
        frame, level = frame.f_back, level + 1
    for note in notes:
        warnings.warn(note, stacklevel=level)


def _beside(arguments: Sequence[str], on_poll: Callable[[], object]) -> tuple[int, str, str]:
    command = [sys.executable, "-P", "-m", "migsim", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace") as process:
        try:
            while True:
                try:
                    out, errors = process.communicate(timeout=0.2)
                    return process.returncode, out, errors
                except subprocess.TimeoutExpired:
                    on_poll()
        except BaseException:
            process.kill()
            raise


def _counted(folder: Path) -> tuple[int, int | None]:
    """Returns the number of runs that a folder has, and the number that it will have, if it is known."""
    try:
        with (folder / "runs.jsonl").open("rb") as rows:
            done = sum(1 for _ in rows)
        plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
        return done, len(plan["runs"]) if "runs" in plan else None
    except (OSError, ValueError):
        return 0, None


def call(arguments: Sequence[str]) -> str:
    """Runs the command and returns its output.

    Raises
    ------
    migsim.Error
        The command failed; the error has its message.
    """
    code, out, errors = _core.command(["migsim", *arguments], False, plugins())
    if code != 0:
        raise _error(arguments, code, errors)
    return out


def _error(arguments: Sequence[str], code: int, text: str) -> Error:
    """Creates the exception of a command, with the problems in its text."""
    found = []
    for part in re.split(r"^error: ", text, flags=re.MULTILINE)[1:]:
        lines = part.rstrip().split("\n")
        place = next((line.strip()[4:] for line in lines if line.startswith("  --> ")), None)
        hint = next((line.strip()[6:] for line in lines if line.startswith("  hint: ")), None)
        found.append(
            {"message": lines[0], "source": place, "line": None, "column": None, "key": None, "hint": hint}
        )
    return Error(text[max(text.find("error: "), 0) :].strip() or f"migsim {arguments[0]} ended with code {code}", found)
