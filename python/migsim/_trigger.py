"""Triggers that are written in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ._plugin import C, known, register


class Observed(Protocol):
    """What a trigger sees: the computing times of the hosts in the superstep that has just ended."""

    @property
    def superstep(self) -> int:
        """The superstep, counted from 0."""

    @property
    def max_s(self) -> float:
        """The largest time of a host [s]."""

    @property
    def mean_s(self) -> float:
        """The mean over the hosts [s]; of hosts without processes only as many count as processes could use."""

    @property
    def min_s(self) -> float:
        """The smallest time of a host [s]."""

    @property
    def price_s(self) -> float:
        """The price of the last call, its migrations included [s]; 0 before the first."""

    @property
    def is_first(self) -> bool:
        """Whether it is the first superstep of the run, or the first after a call."""


class Trigger:
    """A base for triggers: never a call.

    >>> import migsim
    >>> @migsim.trigger("tenth", "a call when the slowest host takes more than 1/share of the mean longer")
    ... class Tenth(migsim.Trigger):
    ...     def __init__(self, share: int = 10) -> None:
    ...         self.share = share
    ...     def is_due(self, observed):
    ...         return observed.max_s > (1 + 1 / self.share) * observed.mean_s
    >>> run = migsim.run(app="sw", n=25, policy="greedy/tenth", **{"policy.trigger.tenth.share": 2})
    >>> len(run.calls) > 0
    True
    """

    def is_due(self, observed: Observed) -> bool:
        """Whether a call is due after this superstep; asked after each. A "yes" is obeyed."""
        return False

    def on_outcome(self, moved: int) -> None:
        """Told after each call how many processes moved."""


def trigger(name: str, summary: str = "-") -> Callable[[C], C]:
    """Registers a class as the trigger `name`: any strategy or policy can be called by it (`policy="greedy/NAME"`).

    The class has `is_due(observed)` and `on_outcome(moved)`, as `Trigger` has them. The parameters of its constructor are the options
    (`policy.trigger.NAME.OPTION`), each with a default that JSON can write.

    Raises
    ------
    TypeError
        A parameter has no default, or one that JSON cannot write.
    Error
        migsim has something of this name itself, or the name cannot stand in settings.
    """
    return register("trigger", name, summary)


def triggers() -> list[str]:
    """The names of all triggers, those of Python included.

    >>> import migsim
    >>> "menon" in migsim.triggers()
    True
    """
    return known("triggers")
