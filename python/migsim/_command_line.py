"""Calls the command in this process; its errors become exceptions."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence

from . import _core
from ._errors import Error
from ._plugin import plugins


def call_beside(arguments: Sequence[str]) -> str:
    """Runs a long command in a separate process, so that Ctrl-C stops it as on a terminal, and returns its output.

    If there are plug-ins in Python, it runs in this process.

    Raises
    ------
    migsim.Error
        The command failed; the error has its message.
    """
    if plugins():
        return call(arguments)
    done = subprocess.run([sys.executable, "-P", "-m", "migsim", *arguments], capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode != 0:
        raise Error(done.stderr.strip() or f"migsim {arguments[0]} ended with code {done.returncode}", _problems(done.stderr))
    return done.stdout


def call(arguments: Sequence[str]) -> str:
    """Runs the command and returns its output.

    Raises
    ------
    migsim.Error
        The command failed; the error has its message.
    """
    code, out, errors = _core.command(["migsim", *arguments], False, plugins())
    if code != 0:
        raise Error(errors.strip() or f"migsim {arguments[0]} ended with code {code}", _problems(errors))
    return out


def _problems(text: str) -> list[dict[str, object]]:
    """Returns the problems in the text of an error."""
    found = []
    for part in re.split(r"^error: ", text, flags=re.MULTILINE)[1:]:
        lines = part.rstrip().split("\n")
        place = next((line.strip()[4:] for line in lines if line.startswith("  --> ")), None)
        hint = next((line.strip()[6:] for line in lines if line.startswith("  hint: ")), None)
        found.append(
            {"message": lines[0], "source": place, "line": None, "column": None, "key": None, "hint": hint}
        )
    return found
