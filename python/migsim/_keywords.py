"""The keywords of each function, for type checkers and `help`; as in the help of the command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict, TypeVar, Union

from ._arguments import Value

F = TypeVar("F", bound=Callable[..., Any])


class Keywords(TypedDict, total=False):
    """The keywords of all functions that run experiments. Only `app` has a narrow type, so that type checkers accept keys with dots."""

    app: Union[str, list[str]]
    allow_exec: Value
    alpha: Value
    change: Value
    clusters: Value
    d: Value
    data: Value
    grid: Value
    include_outside: Value
    library: Value
    load: Value
    mapping: Value
    memory_limit: Value
    messages: Value
    n: Value
    net: Value
    network: Value
    omega: Value
    platform: Value
    policy: Value
    procs: Value
    scenario: Value
    seed: Value
    threads: Value
    trace: Value
    trigger: Value
    work: Value
    x: Value


class RunKeywords(Keywords, total=False):
    """The keywords of `run`, `Experiment` and `Environment`."""

    no_static_starts: Value


class SweepKeywords(Keywords, total=False):
    """The keywords of `sweep` and `Sweep`."""

    draw_seed: Value
    indifference: Value
    latin: Value
    random: Value
    zip: Value


class TuneKeywords(Keywords, total=False):
    """The keywords of `tune`."""

    budget: Value
    draw_seed: Value
    fresh: Value
    goal: Value
    indifference: Value


class AdviseKeywords(Keywords, total=False):
    """The keywords of `advise`."""

    budget: Value
    first: Value
    indifference: Value
    policies: Value


class CompareKeywords(Keywords, total=False):
    """The keywords of `compare`."""

    hindsight: Value
    indifference: Value
    map: Value
    no_static_starts: Value
    optimum: Value
    policies: Value
    when: Value


class BottlenecksKeywords(Keywords, total=False):
    """The keywords of `bottlenecks`."""

    hold_decisions: Value
    pairs: Value


class BenchKeywords(TypedDict, total=False):
    """The keywords of `bench`."""

    allow_exec: Value
    cases: Value
    draw: Value
    include_outside: Value
    memory_limit: Value
    policies: Value
    start: Value
    suite: Value
    threads: Value


def lists(keywords: Any) -> Callable[[F], F]:
    """A decorator that appends the names of the keywords to the docstring."""

    def decorate(function: F) -> F:
        names = ", ".join(f"`{name}`" for name in sorted(keywords.__annotations__))
        function.__doc__ = f"{(function.__doc__ or '').rstrip()}\n\n    Keywords: {names}.\n    "
        return function

    return decorate
