"""Keywords as the flags of the command."""

from __future__ import annotations

import difflib
import functools
import hashlib
import json
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias, Union

#: A value of a setting: a number, a text with its unit, a list to vary it, an object of JSON.
Value: TypeAlias = Union[
    None, bool, int, float, str, "PathLike[str]", Sequence[Any], Mapping[str, Any]
]

#: Keywords that are True or False.
_SWITCHES = {"allow_exec", "hold_decisions", "include_outside", "no_static_starts", "pairs", "zip"}
#: Keywords whose values in a list apply together, without a dot in the name of their key.
_TOGETHER = ("net", "change")
#: Keys of an experiment that name files, which the command looks for in the folder of the experiment file.
_FILES = ("platform", "trace", "work", "messages", "data", "library", "mapping", "file")


def merged(settings: Any, keywords: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Returns what an `Experiment`, a dict or a file gives beneath the keywords, and all keywords."""
    return getattr(settings, "_given", settings), {**getattr(settings, "_keywords", {}), **keywords}


def arguments(known: Any, keywords: Mapping[str, Any], given: Any = None, seeds: Any = None, *, is_varied: bool = False) -> list[str]:
    """Converts keywords into flags; names with a dot are keys of the experiment.

    Parameters
    ----------
    known
        The keywords of the function, a `TypedDict`.
    given
        The experiment that they modify: an `Experiment`, a dict, a file or a name.
    seeds
        Their number, a list, or a range as text.
    is_varied
        Whether a list gives the values of a setting in several runs.
    """
    given, keywords = merged(given, keywords)
    typed = [] if given is None else [as_file(_absolute(plain(given)), "experiment") if isinstance(given, Mapping) else fspath(given)]
    for name, value in keywords.items():
        if value is None:
            raise TypeError(f"`{name}` is None: leave the keyword out to get its default")
        value, flag = plain(value), f"--{name.replace('_', '-')}"
        values = value if isinstance(value, list) else [value]
        is_key = "." in name or "[" in name
        if not is_key and name not in known.__annotations__:
            names = sorted(known.__annotations__)
            near = difflib.get_close_matches(name, names, 1)
            meant = f"did you mean `{near[0]}`? " if near else ""
            raise TypeError(f"unexpected keyword `{name}`; {meant}known keywords: {', '.join(names)}, and keys with dots")
        if is_varied and isinstance(value, list) and (is_key or name == "mapping"):
            typed += ["--vary", f"{name}=" + ",".join(map(_text, value))]
        elif is_key:
            # A text that reads as another value of JSON is quoted.
            is_text = isinstance(value, str) and value not in ("true", "false", "null")
            typed += ["--set", f"{name}={value if is_text else json.dumps(value)}"]
        elif name in _SWITCHES:
            typed += [flag] if is_true(name, value) else []
        elif isinstance(value, bool):
            raise TypeError(f"`{name}` is {value}: a value is expected, such as a name or a number")
        elif isinstance(value, Mapping) and name in ("platform", "library"):
            typed += [flag, as_file(value, "object")]
        elif name in _TOGETHER or (name == "load" and not is_varied):
            typed += [word for one in values for word in (flag, _text(one))]
        else:
            typed += [flag, ",".join(map(_text, values))]
    seeds = plain(seeds)
    if isinstance(seeds, bool):
        raise TypeError(f"`seeds` is {seeds}: a number, a list or a range such as \"1..10\" is expected")
    if seeds is not None:
        counted = f"1..{seeds}" if isinstance(seeds, int) else str(seeds)
        typed += ["--seeds", ",".join(map(_text, seeds)) if isinstance(seeds, list) else counted]
    return typed


def is_true(name: str, value: Any) -> bool:
    """Returns a value that must be True or False."""
    if not isinstance(plain(value), bool):
        raise TypeError(f"`{name}` is {value!r}: True or False is expected")
    return bool(value)


def plain(value: Any) -> Any:
    """Converts numbers of NumPy into those of Python, and paths and iterators into texts and lists."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, PathLike)):
        return [plain(one) for one in value]
    return fspath(value) if isinstance(value, PathLike) else value


def _absolute(settings: Any, key: str = "") -> Any:
    """Returns settings in which the names of existing files are absolute."""
    if isinstance(settings, Mapping):
        return {name: _absolute(one, name) for name, one in settings.items()}
    if isinstance(settings, list):
        return [_absolute(one, key) for one in settings]
    is_file = key in _FILES and isinstance(settings, str) and (Path(settings).exists() or key == "data")
    return str(Path(settings).absolute()) if is_file else settings


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and "kind" in value:
        # A load: `{"kind": "walk", "step": 0.1}` becomes `walk,step=0.1`.
        return ",".join([str(value["kind"]), *(f"{key}={_text(one)}" for key, one in value.items() if key != "kind")])
    if isinstance(value, float) and value.is_integer():
        # Tables have whole parameters as float64.
        return str(int(value))
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise TypeError(
        f"`{value!r}` is no value of a setting: a number or a text with its unit is expected; a class is named by the text under which it is registered"
    )


class Folder:
    """A folder. Without a name it is a temporary one, which is deleted with this object, or at the end of the process that made it."""

    def __init__(self, name: Any = None) -> None:
        self.name = tempfile.mkdtemp(prefix="migsim-") if name is None else str(Path(name).absolute())
        if name is None:
            weakref.finalize(self, _delete, self.name, os.getpid())


def _delete(folder: str, owner: int) -> None:
    # The folder of a process is not that of its fork.
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def _folder() -> Folder:
    return Folder()


def as_file(value: Mapping[str, Any], name: str) -> str:
    """Writes a JSON object to a file and returns its name; equal objects have the same file."""
    text = json.dumps(plain(value))
    stem = re.sub(r"[^A-Za-z0-9_-]", "-", str(value.get("name", name)))[:40]
    file = Path(_folder().name) / hashlib.sha256(text.encode()).hexdigest()[:12] / f"{stem}.json"
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text(text, encoding="utf-8")
    return str(file)
