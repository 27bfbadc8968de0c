"""Python classes by name: policies, triggers, applications."""

from __future__ import annotations

import inspect
import json
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from . import _core
from ._errors import warn
from ._identity import Unknown, identity


class _Registered(NamedTuple):
    cls: Callable[..., Any]
    summary: str
    code: str
    plugin: _core.Plugin


#: The classes by kind and name; a class that is registered again replaces the earlier one.
_PLUGINS: dict[tuple[str, str], _Registered] = {}

C = TypeVar("C", bound=Callable[..., Any])


def register(kind: str, name: str, summary: str) -> Callable[[C], C]:
    """A decorator that registers a class as a plug-in of this kind."""
    if not isinstance(name, str):
        raise TypeError(f"the decorator needs a name: @migsim.{kind}(\"NAME\")")

    def decorate(cls: C) -> C:
        _PLUGINS[kind, name] = _registered(kind, name, summary, cls, _code(kind, name, cls, is_told=True))
        return cls

    return decorate


def _registered(kind: str, name: str, summary: str, cls: Callable[..., Any], code: str) -> _Registered:
    return _Registered(cls, summary, code, _core.Plugin(kind, name, summary, cls, json.dumps(_defaults(cls, kind)), code))


def _code(kind: str, name: str, cls: Callable[..., Any], *, is_told: bool) -> str:
    """Returns the identity of a class; without one, a new name at each call, so that no kept run counts as a run of this class."""
    try:
        return identity(cls)
    except Unknown as what:
        if is_told:
            warn([f"runs of the {kind} `{name}` are not used again by a later sweep: it refers to {what}, whose content cannot be identified"])
        return f"unknown-{uuid.uuid4()}"


def _defaults(cls: Callable[..., Any], kind: str) -> dict[str, Any]:
    if getattr(cls, "__init__", None) is object.__init__:
        return {}
    defaults = {}
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is parameter.empty:
            raise TypeError(f"the option `{parameter.name}` of the {kind} needs a default")
        is_float = parameter.annotation in (float, "float") and isinstance(parameter.default, int)
        defaults[parameter.name] = float(parameter.default) if is_float else parameter.default
    return defaults


def plugins() -> list[_core.Plugin]:
    """Returns all registered plug-ins; a class whose code or globals have changed is another plug-in."""
    for (kind, name), known in list(_PLUGINS.items()):
        code = _code(kind, name, known.cls, is_told=not known.code.startswith("unknown-"))
        if code != known.code:
            _PLUGINS[kind, name] = _registered(kind, name, known.summary, known.cls, code)
    return [known.plugin for known in _PLUGINS.values()]


def known(several: str) -> list[str]:
    """Returns the names that `migsim list` prints."""
    _, text, _ = _core.command(["migsim", "list", several, "--json"], plugins())
    return [row["name"] for row in json.loads(text)["known"]]
