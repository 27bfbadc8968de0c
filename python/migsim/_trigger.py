"""Triggers that are written in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ._plugin import C, known, register


class Observed(Protocol):
    """The data that a trigger gets: the computing times of the hosts in the superstep that has just ended."""

    @property
    def superstep(self) -> int:
        """The superstep, counted from 0."""

    @property
    def max_s(self) -> float:
        """The maximum time of a host [s]."""

    @property
    def mean_s(self) -> float:
        """The mean time of the hosts [s], over as many hosts as the processes can use."""

    @property
    def min_s(self) -> float:
        """The minimum time of a host [s]."""

    @property
    def price_s(self) -> float:
        """The price of the last call, including its migrations [s]; 0 before the first call."""

    @property
    def is_first(self) -> bool:
        """Whether it is the first superstep of the run, or the first after a call."""


class Trigger:
    """A base class for triggers: it never requests a call.

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
        """Returns whether a call is due after this superstep; called after each. If true, a call follows."""
        return False

    def on_outcome(self, moved: int) -> None:
        """Called after each call with the number of processes that moved."""


def trigger(name: str, summary: str = "-") -> Callable[[C], C]:
    """Registers a class as the trigger `name`, which can call any strategy or policy (`policy="greedy/NAME"`).

    The class has the methods `is_due(observed)` and `on_outcome(moved)` of `Trigger`. The parameters of its constructor are the options
    (`policy.trigger.NAME.OPTION`), as for `policy`.

    Raises as `policy` does.
    """
    return register("trigger", name, summary)


def triggers() -> list[str]:
    """Returns the names of all triggers, including those in Python.

    >>> import migsim
    >>> "menon" in migsim.triggers()
    True
    """
    return known("triggers")
