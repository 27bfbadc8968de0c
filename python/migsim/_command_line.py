"""The command, called in this process; what it refuses is an exception."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence

from . import _core
from ._errors import Error
from ._plugin import plugins


def call_beside(arguments: Sequence[str]) -> str:
    """What a long command prints, run in a process of its own, which Ctrl-C stops as on a terminal; in this one if plug-ins of Python may be needed.

    Raises
    ------
    migsim.Error
        It failed, in its words.
    """
    if plugins():
        return call(arguments)
    done = subprocess.run([sys.executable, "-m", "migsim", *arguments], capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode != 0:
        raise Error(done.stderr.strip() or f"migsim {arguments[0]} ended with code {done.returncode}", _problems(done.stderr))
    return done.stdout


def call(arguments: Sequence[str]) -> str:
    """What the command prints.

    Raises
    ------
    migsim.Error
        It failed, in its words.
    """
    code, out, errors = _core.command(["migsim", *arguments], False, plugins())
    if code != 0:
        raise Error(errors.strip() or f"migsim {arguments[0]} ended with code {code}", _problems(errors))
    return out


def _problems(text: str) -> list[dict[str, object]]:
    """The problems that the text of an error tells."""
    found = []
    for part in re.split(r"^error: ", text, flags=re.MULTILINE)[1:]:
        lines = part.rstrip().split("\n")
        place = next((line.strip()[4:] for line in lines if line.startswith("  --> ")), None)
        hint = next((line.strip()[6:] for line in lines if line.startswith("  hint: ")), None)
        found.append(
            {"message": lines[0], "source": place, "line": None, "column": None, "key": None, "hint": hint}
        )
    return found
