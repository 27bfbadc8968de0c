"""Calls the command in this process; its errors become exceptions, its notes warnings."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import _core
from ._errors import Error, warn
from ._plugin import plugins
from ._progress import bar


class Told(NamedTuple):
    """What a command printed, and its notes for the user."""

    text: str
    notes: list[str]


def call(arguments: Sequence[str], folder: str = "", progress: Any = False, known: Sequence[_core.Plugin] | None = None) -> Told:
    """Runs a command with the plug-ins `known`, by default all; Ctrl-C ends it. `folder` has the runs that the bar counts.

    Raises
    ------
    migsim.Error
        The command failed. Failed runs alone are rows of the results, and a warning tells of them.
    """
    tell, close = bar(progress, "runs")
    try:
        on_poll = None if tell is None else (lambda: tell(*_counted(Path(folder))))
        code, out, errors = _core.command(["migsim", *arguments], False, plugins() if known is None else known, on_poll)
    finally:
        close()
    if code > 1 or (code == 1 and not out):
        raise _error(arguments, code, errors)
    # A note or a failure has hints below it.
    parts = re.split(r"^(?=\S)", errors.replace("\r", "\n"), flags=re.MULTILINE)
    notes = [part.removeprefix("note: ").strip() for part in parts if part.startswith("note: ") or "runs failed" in part]
    warn(notes)
    return Told(out, notes)


def _counted(folder: Path) -> tuple[int, int | None]:
    """Returns the number of runs that a folder has, and the number that it will have, if it is known."""
    try:
        with (folder / "runs.jsonl").open("rb") as rows:
            done = sum(1 for _ in rows)
        plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
        return done, len(plan["runs"]) if "runs" in plan else None
    except (OSError, ValueError):
        return 0, None


def _error(arguments: Sequence[str], code: int, text: str) -> Error:
    """Creates the exception of a command, with the problems in its text."""
    found = []
    for part in re.split(r"^error: ", text, flags=re.MULTILINE)[1:]:
        lines = part.rstrip().split("\n")
        place = next((line.strip()[4:] for line in lines if line.startswith("  --> ")), None)
        hint = next((line.strip()[6:] for line in lines if line.startswith("  hint: ")), None)
        found.append({"message": lines[0], "source": place, "hint": hint})
    return Error(text[max(text.find("error: "), 0) :].strip() or f"migsim {arguments[0]} ended with code {code}", found)
