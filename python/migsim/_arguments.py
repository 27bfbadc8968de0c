"""Keywords as the flags of the command."""

from __future__ import annotations

import atexit
import difflib
import functools
import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias, Union

from . import _core

#: A value of a setting: a number, a text with its unit, a list to vary it, an object of JSON.
Value: TypeAlias = Union[
    None, bool, int, float, str, "PathLike[str]", Sequence[Any], Mapping[str, Any]
]

#: Flags that are methods or separate keywords here.
_HIDDEN = {"help", "help-all", "out", "force", "format", "json", "quiet", "report", "show", "set", "vary", "dry-run"}


@functools.cache
def flags(command: str) -> frozenset[str]:
    """Returns the flags of a command, from its help on all flags; commands with few flags have only `--help`."""
    code, text, _ = _core.command(["migsim", command, "--help-all"])
    if code:
        _, text, _ = _core.command(["migsim", command, "--help"])
    return frozenset(re.findall(r"^\s+(?:-\w, )?--([a-z][a-z-]*)", text, re.MULTILINE)) - _HIDDEN


def arguments(command: str, keywords: Mapping[str, Value], is_varied: bool = False) -> list[str]:
    """Converts keywords into flags; names with a dot are keys of the experiment."""
    known, typed = flags(command), []
    for name, value in keywords.items():
        if value is None:
            continue
        flag = name.replace("_", "-")
        if "." in name or "[" in name:
            typed += _of_key(name, value, is_varied)
        elif flag not in known:
            names = ", ".join(sorted(name.replace("-", "_") for name in known))
            near = difflib.get_close_matches(name, names.split(", "), 1)
            meant = f"did you mean `{near[0]}`? " if near else ""
            raise TypeError(f"unexpected keyword `{name}`; {meant}known keywords: {names}, and keys with dots")
        elif isinstance(value, bool):
            typed += [f"--{flag}"] if value else []
        elif flag in ("platform", "load", "library") and isinstance(value, Mapping):
            typed += [f"--{flag}", as_file(value) if flag != "load" else _load(value)]
        elif flag in ("load", "net", "change") and _is_list(value):
            for one in _items(value):
                typed += [f"--{flag}", _load(one) if isinstance(one, Mapping) else _text(one)]
        elif _is_list(value):
            typed += [f"--{flag}", ",".join(_text(one) for one in _items(value))]
        else:
            typed += [f"--{flag}", _text(value)]
    return typed


def _of_key(name: str, value: Value, is_varied: bool) -> list[str]:
    if is_varied and _is_list(value):
        return ["--vary", f"{name}=" + ",".join(_text(one) for one in _items(value))]
    text = value if isinstance(value, str) else json.dumps(_plain(value))
    return ["--set", f"{name}={text}"]


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping, PathLike))


def _items(value: Any) -> list[Any]:
    return list(value)


def _plain(value: Any) -> Any:
    """Converts numbers of NumPy into those of Python."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return fspath(value) if isinstance(value, PathLike) else value


def _text(value: Any) -> str:
    value = _plain(value)
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise TypeError(f"`{value!r}` is no value of a setting: a number or a text with its unit is expected")


def _load(value: Mapping[str, Any]) -> str:
    """Converts a load into the value of its flag: `{"kind": "walk", "step": 0.1}` becomes `walk,step=0.1`."""
    rest = ",".join(f"{key}={_text(one)}" for key, one in value.items() if key != "kind")
    return f"{value['kind']},{rest}" if rest else str(value["kind"])


@functools.cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="migsim-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def as_file(value: Mapping[str, Any]) -> str:
    """Writes a JSON object to a file and returns its name; equal objects have the same file."""
    text = json.dumps(_plain(value))
    name = str(value.get("name", "object"))
    stem = re.sub(r"[^A-Za-z0-9_-]", "-", name)[:40]
    file = _folder() / hashlib.sha256(text.encode()).hexdigest()[:12] / f"{stem}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return str(file)
