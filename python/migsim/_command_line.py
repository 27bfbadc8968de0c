"""Calls the command in this process; its errors become exceptions, its notes warnings."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import _core
from ._errors import warn
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
        _, out, errors = _core.command(["migsim", *arguments], plugins() if known is None else known, on_poll)
    finally:
        close()
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
