"""Applications that are written in Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, Any, Protocol

from ._arguments import plain
from ._plugin import C, known, register

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Plan(Protocol):
    """A superstep to be filled: the computation of each process, and the messages. Processes are counted from 0."""

    @property
    def work(self) -> NDArray[np.float64]:
        """The instructions of each process, shape (processes,): zeros, to be written."""

    @work.setter
    def work(self, values: ArrayLike) -> None: ...

    def send(self, sender: ArrayLike, receiver: ArrayLike, bytes: ArrayLike) -> None:
        """Adds messages: three numbers, or arrays whose shapes can be broadcast. Messages of one sender are sent in this order."""

    @property
    def random(self) -> np.random.Generator:
        """A generator of NumPy, seeded by the option `seed` and the superstep."""


class Application:
    """A base class for applications: the constructor sets `processes` and `supersteps`, and `fill` writes each superstep.

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
    #: Memory of a process, which a migration transfers [B]: one number, or one for each process, shape (processes,).
    memory_bytes: float | ArrayLike = 0.0
    #: Clock cycles per instruction: a host of 1 GHz does 1e9 instructions per second at 1.
    cycles_per_instruction: float = 1.0

    def fill(self, superstep: int, plan: Plan) -> None:
        """Writes a superstep, counted from 0, into an empty plan.

        Supersteps may be requested repeatedly and in any order, so that the plan must depend on the options and `superstep` alone.
        """
        raise NotImplementedError("an application needs `fill(self, superstep, plan)`")


def application(name: str, summary: str = "-") -> Callable[[C], C]:
    """Registers a class as the application `name`, for `run`, `sweep`, `tune`, `compare` and exports.

    The class has the members of `Application`. The parameters of its constructor are its options (`workload.OPTION`), each with a default that JSON
    can represent. `procs` and `n` are also keywords of `run`. An option `seed` gets the seed of the run, whatever its default, unless
    `workload.seed` is set.

    Raises as `policy` does.
    """
    return register("application", name, summary)


def described(application: Any) -> tuple[int, int, list[float], float]:
    """Returns what an application sets: processes, supersteps, the memory of each process and the cycles per instruction."""
    counts = []
    for name, least in (("processes", 1), ("supersteps", 0)):
        if not hasattr(application, name):
            raise AttributeError(f"the application has no attribute `{name}`: set it in its constructor")
        counts.append(index(getattr(application, name)))
        if counts[-1] < least:
            raise ValueError(f"`{name}` is {counts[-1]}; at least {least} is needed")
    processes, supersteps = counts
    cycles = float(getattr(application, "cycles_per_instruction", 1.0))
    if not 0 < cycles < math.inf:
        raise ValueError(f"`cycles_per_instruction` is {cycles}; it must be positive")
    memory = plain(getattr(application, "memory_bytes", 0.0))
    sizes = memory if isinstance(memory, list) else [memory] * processes
    if len(sizes) != processes:
        raise ValueError(f"`memory_bytes` has {len(sizes)} numbers for {processes} processes")
    return processes, supersteps, sizes, cycles


def applications() -> list[str]:
    """Returns the names of all applications, including those in Python.

    >>> import migsim
    >>> "lu" in migsim.applications()
    True
    """
    return known("apps")
