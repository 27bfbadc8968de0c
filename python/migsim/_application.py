"""Applications that are written in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ._plugin import C, known, register

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Plan(Protocol):
    """A superstep to be filled: what each process computes, and the messages. Processes are counted from 0."""

    @property
    def work(self) -> NDArray[np.float64]:
        """The instructions of each process, shape (processes,): zeros, to be written."""

    @work.setter
    def work(self, values: ArrayLike) -> None: ...

    def send(self, sender: ArrayLike, receiver: ArrayLike, bytes: ArrayLike) -> None:
        """Adds messages: three numbers, or arrays whose shapes fit together. Those of one sender are sent in this order."""

    @property
    def random(self) -> np.random.Generator:
        """A generator of NumPy, seeded by the option `seed` and the superstep."""


class Application:
    """A base for applications: `processes` and `supersteps` are set by the constructor, and `fill` says what happens.

    >>> import migsim
    >>> @migsim.application("ring", "each sends to the next one")
    ... class Ring(migsim.Application):
    ...     def __init__(self, procs: int = 8, supersteps: int = 60, work: float = 1e8) -> None:
    ...         self.processes, self.supersteps, self.instructions = procs, supersteps, work
    ...     def fill(self, superstep, plan):
    ...         plan.work = self.instructions
    ...         everybody = range(self.processes)
    ...         plan.send(everybody, [(one + 1) % self.processes for one in everybody], 1000)
    >>> run = migsim.run(app="ring", procs=16, platform="ufrgs", **{"workload.work": 2e8})
    >>> len(run.supersteps) == 3 * 60
    True
    """

    #: The number of processes, at least 1.
    processes: int
    #: The number of supersteps.
    supersteps: int
    #: What a migration of a process carries [B]: one number, or one for each process, shape (processes,).
    memory_bytes: float | ArrayLike = 0.0
    #: Clock cycles per instruction: a host of 1 GHz does 1e9 instructions per second at 1.
    cycles_per_instruction: float = 1.0

    def fill(self, superstep: int, plan: Plan) -> None:
        """Writes a superstep, counted from 0, into an empty plan.

        Any superstep may be asked for again, in any order: what is filled must follow from the options and `superstep` alone.
        """
        raise NotImplementedError("an application needs `fill(self, superstep, plan)`")


def application(name: str, summary: str = "-") -> Callable[[C], C]:
    """Registers a class as the application `name`, for `run`, `sweep`, `tune`, `compare` and exports.

    The class is one as `Application`. The parameters of its constructor are its options (`workload.OPTION`), each with a default that JSON
    can write. `procs` and `n` are keywords of `run`, too. An option `seed` is the seed of the run, whatever its default, unless
    `workload.seed` is set.

    Raises
    ------
    TypeError
        A parameter has no default, or one that JSON cannot write.
    Error
        migsim has something of this name itself, or the name cannot stand in settings.
    """
    return register("application", name, summary)


def applications() -> list[str]:
    """The names of all applications, those of Python included.

    >>> import migsim
    >>> "lu" in migsim.applications()
    True
    """
    return known("apps")
