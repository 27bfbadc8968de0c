"""The identity of a class: a hash of the code that it executes."""

from __future__ import annotations

import hashlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

#: Constants whose `repr` says everything about them.
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), range)


class Unknown(Exception):
    """A class refers to an object whose content cannot be read."""


def identity(cls: Callable[..., Any]) -> str:
    """Returns the SHA-256 of the methods of a class, its base classes, and all that they refer to in modules that are not installed.

    Code of installed modules and of the standard library enters by the name and the version of its module.

    Raises
    ------
    Unknown
        The class refers to an object that is no function, class, module or value.
    """
    digest = hashlib.sha256()
    for part in _Reader().parts(cls):
        digest.update(repr(part).encode())
    return digest.hexdigest()


class _Reader:
    """Visits each object once, so that recursive functions end."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        #: Objects made on the way stay, so that no two have the same id.
        self.kept: list[object] = []

    def parts(self, value: Any) -> Iterator[object]:
        """Describes a value by texts and numbers."""
        if isinstance(value, _PLAIN):
            yield type(value).__name__, repr(value)
            return
        if id(value) in self.numbers:
            yield "again", self.numbers[id(value)]
            return
        self.numbers[id(value)] = len(self.numbers)
        self.kept.append(value)
        if isinstance(value, types.CodeType):
            yield from self._code(value)
        elif isinstance(value, types.FunctionType):
            yield from self._function(value)
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, types.ModuleType):
            yield from self._module(value)
        elif isinstance(value, (staticmethod, classmethod, types.MethodType)):
            yield type(value).__name__
            yield from self.parts(value.__func__)
        elif isinstance(value, property):
            for one in (value.fget, value.fset, value.fdel):
                yield from self.parts(one)
        elif isinstance(value, (list, tuple, set, frozenset, Mapping)):
            yield from self._collection(value)
        elif hasattr(value, "dtype") and hasattr(value, "tobytes") and not getattr(value.dtype, "hasobject", False):
            yield "array", str(value.dtype), getattr(value, "shape", ()), hashlib.sha256(value.tobytes()).hexdigest()
        elif isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType)):
            yield value.__name__
        elif _is_installed(getattr(value, "__module__", None)) and callable(value) and hasattr(value, "__qualname__"):
            yield from self._installed(value.__module__, value.__qualname__)
        elif hasattr(value, "__dict__") and not callable(value):
            yield from self.parts(type(value))
            yield from self.parts(vars(value))
        else:
            raise Unknown(f"an object of the type `{type(value).__qualname__}`")

    def _code(self, code: types.CodeType) -> Iterator[object]:
        yield code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_argcount
        for constant in code.co_consts:
            yield from self.parts(constant)

    def _function(self, function: types.FunctionType) -> Iterator[object]:
        if _is_installed(function.__module__):
            yield from self._installed(function.__module__, function.__qualname__)
            return
        yield from self.parts(function.__code__)
        yield from self.parts(function.__defaults__)
        yield from self.parts(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                yield from self.parts(cell.cell_contents)
            except ValueError:
                yield "empty cell"
        for name in sorted(_names(function.__code__) & function.__globals__.keys()):
            yield name
            yield from self.parts(function.__globals__[name])

    def _class(self, cls: type) -> Iterator[object]:
        if _is_installed(cls.__module__):
            yield from self._installed(cls.__module__, cls.__qualname__)
            return
        for base in cls.__bases__:
            yield from self.parts(base)
        for name, value in sorted(vars(cls).items()):
            if name in ("__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__", "__static_attributes__"):
                continue
            yield name
            if name != "__annotations__":
                yield from self.parts(value)

    def _module(self, module: types.ModuleType) -> Iterator[object]:
        if _is_installed(module.__name__):
            yield from self._installed(module.__name__, "")
            return
        for name, value in sorted(vars(module).items()):
            if not name.startswith("__"):
                yield name
                yield from self.parts(value)

    def _collection(self, value: Any) -> Iterator[object]:
        yield type(value).__name__, len(value)
        items = list(value.items()) if isinstance(value, Mapping) else list(value)
        # A set has no order that is the same in two processes.
        for item in sorted(items, key=repr) if isinstance(value, (set, frozenset)) else items:
            yield from self.parts(tuple(item) if isinstance(value, Mapping) else item)

    def _installed(self, module: str, name: str) -> Iterator[object]:
        package = sys.modules.get(module.partition(".")[0])
        yield module, name, str(getattr(package, "__version__", ""))


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
