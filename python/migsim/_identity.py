"""The identity of a class: a hash of the code that it executes."""

from __future__ import annotations

import hashlib
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any


#: Members of a class that say nothing of what it does, or that its other members say.
_LEFT_OUT = ("__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__", "__static_attributes__", "__annotations__")


class Unknown(Exception):
    """A class refers to an object whose content cannot be read."""


def identity(cls: Callable[..., Any]) -> str:
    """Returns the SHA-256 of the methods of a class, its base classes, and all that they refer to in modules that are not installed.

    Code of installed modules and of the standard library enters by the name and the version of its module.

    Raises
    ------
    Unknown
        The class refers to an object that cannot be pickled.
    """
    reader = _Reader()
    reader.read(cls)
    return reader.digest.hexdigest()


class _Reader:
    """Reads each object once, so that recursive functions end."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        #: The numbers of the objects by their ids; the objects stay, so that no two have the same id.
        self.known: dict[int, tuple[int, object]] = {}

    def note(self, *parts: object) -> None:
        """Adds texts and numbers."""
        self.digest.update(repr(parts).encode())

    def read(self, value: Any) -> None:
        """Adds an object and all that it refers to."""
        if value is None or isinstance(value, (bool, int, float, complex, str, range)):
            self.note(type(value).__name__, value)
        elif isinstance(value, bytes):
            self.note(len(value))
            self.digest.update(value)
        elif id(value) in self.known:
            self.note(self.known[id(value)][0])
        else:
            self.known[id(value)] = len(self.known), value
            self.note(type(value).__name__)
            self.read_inside(value)

    def read_inside(self, value: Any) -> None:
        if isinstance(value, (list, tuple)):
            self.note(len(value))
            self.read_all(value)
        elif isinstance(value, (set, frozenset)):
            # The order in a set differs between processes.
            self.read(sorted(value, key=repr))
        elif isinstance(value, Mapping):
            self.read(list(value.items()))
        elif isinstance(value, types.CodeType):
            self.note(value.co_code, value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars, value.co_argcount)
            self.read(value.co_consts)
        elif isinstance(value, types.CellType):
            try:
                content = [value.cell_contents]
            except ValueError:
                content = []
            self.read(content)
        elif isinstance(value, (staticmethod, classmethod, types.MethodType)):
            self.read(value.__func__)
        elif isinstance(value, property):
            self.read_all((value.fget, value.fset, value.fdel))
        elif isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType)):
            self.note(value.__name__)
        elif isinstance(value, (types.FunctionType, types.ModuleType, type)):
            self.read_code(value)
        else:
            try:
                content = value.__reduce_ex__(2)
                if isinstance(content, str) and not _is_installed(value.__module__):
                    # A function that is only named, such as one with a cache.
                    content = value.__wrapped__
            except Exception as error:
                raise Unknown(f"an object of the type `{type(value).__qualname__}`") from error
            self.read(content)

    def read_code(self, value: Any) -> None:
        """Adds a module, a class or a function: by its content, or, if it is installed, by its name and version."""
        module = value.__name__ if isinstance(value, types.ModuleType) else value.__module__
        if _is_installed(module):
            package = sys.modules.get(module.partition(".")[0])
            self.note(module, getattr(value, "__qualname__", ""), str(getattr(package, "__version__", "")))
        elif isinstance(value, types.FunctionType):
            self.read_all((value.__code__, value.__defaults__, value.__kwdefaults__, value.__closure__))
            names = _names(value.__code__) & value.__globals__.keys()
            self.read({name: value.__globals__[name] for name in sorted(names)})
        else:
            is_module = isinstance(value, types.ModuleType)
            shown = {name: one for name, one in sorted(vars(value).items()) if not (name.startswith("__") if is_module else name in _LEFT_OUT)}
            self.read_all((getattr(value, "__bases__", ()), shown))

    def read_all(self, values: Iterable[Any]) -> None:
        for one in values:
            self.read(one)


def _names(code: types.CodeType) -> set[str]:
    """Returns the global names that a function and the functions inside it use."""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _is_installed(name: str | None) -> bool:
    """Returns whether a module belongs to Python or to an installed package, whose version identifies it."""
    if name is None or name == "__main__":
        return False
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top == "migsim":
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and bool({"site-packages", "dist-packages"} & set(Path(file).parts))
