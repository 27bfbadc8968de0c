"""Python classes by name: policies, triggers, applications."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable
from typing import Any, TypeVar

from . import _core

#: The classes by kind and name; a class that is registered again replaces the earlier one.
_PLUGINS: dict[tuple[str, str], _core.Plugin] = {}

C = TypeVar("C", bound=Callable[..., Any])


def register(kind: str, name: str, summary: str) -> Callable[[C], C]:
    """A decorator that registers a class as a plug-in of this kind."""

    def decorate(cls: C) -> C:
        defaults = json.dumps(_defaults(cls, kind))
        _PLUGINS[kind, name] = _core.Plugin(kind, name, summary, cls, defaults, _source_sha256(cls))
        return cls

    return decorate


def _source_sha256(cls: Callable[..., Any]) -> str | None:
    """Returns the hash of the source of a class, which identifies it in the settings of a run; none if there is no source, as at a prompt."""
    try:
        source = inspect.getsource(cls)
    except (OSError, TypeError):
        return None
    return hashlib.sha256(inspect.cleandoc(source).encode()).hexdigest()


def _defaults(cls: Callable[..., Any], kind: str) -> dict[str, Any]:
    if getattr(cls, "__init__", None) is object.__init__:
        return {}
    defaults = {}
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is parameter.empty:
            raise TypeError(f"the option `{parameter.name}` of the {kind} needs a default")
        defaults[parameter.name] = parameter.default
    return defaults


def plugins() -> list[_core.Plugin]:
    """Returns all registered plug-ins."""
    return list(_PLUGINS.values())


def known(several: str) -> list[str]:
    """Returns the names that `migsim list` prints."""
    _, text, _ = _core.command(["migsim", "list", several, "--json"], False, plugins())
    return [row["name"] for row in json.loads(text)["known"]]
