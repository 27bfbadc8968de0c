"""Policies that are written in Python."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from operator import index
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeAlias, TypedDict, Union

from ._plugin import C, known, register

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: The answer of a policy: the host of each process, or pairs of process and host; None moves no process.
Answer: TypeAlias = Union[None, "NDArray[np.int64]", Mapping[int, int], Iterable[tuple[int, int]]]


class PlatformView(TypedDict):
    """The nominal properties of the platform."""

    #: Speed of a core of each host [instr/s], shape (hosts,).
    speed: NDArray[np.float64]
    #: Cores of each host, shape (hosts,).
    cores: NDArray[np.int64]
    #: The cluster of each host, counted from 0, shape (hosts,).
    cluster: NDArray[np.int64]
    #: The names of the hosts.
    hosts: list[str]
    #: The names of the clusters.
    clusters: list[str]


class View(Protocol):
    """The data that a policy gets at the barrier of a superstep.

    Arrays are read-only, and each barrier overwrites them: copy what you want to keep. Supersteps, processes and hosts are counted from 0.
    """

    #: The superstep that has just ended, counted from 0.
    superstep: int
    #: The number of supersteps of the application.
    supersteps: int
    #: The time [s].
    now_s: float
    #: The price of the last call, including its migrations [s].
    last_price_s: float
    #: Whether migrations happen (scenario iii) or are only decided (ii).
    migrations_happen: bool
    #: Clock cycles per instruction of the application.
    cycles_per_instruction: float

    @property
    def placement(self) -> NDArray[np.int64]:
        """The host of each process, shape (processes,)."""

    @property
    def work(self) -> NDArray[np.float64]:
        """The instructions of each process, shape (processes,)."""

    @property
    def delay_s(self) -> NDArray[np.float64]:
        """The time after the first process at which each process began [s], shape (processes,)."""

    @property
    def compute_s(self) -> NDArray[np.float64]:
        """The duration of the computation of each process [s], shape (processes,)."""

    @property
    def send_s(self) -> NDArray[np.float64]:
        """The time from the end of each computation until the last own message was delivered [s], shape (processes,)."""

    @property
    def communication_s(self) -> NDArray[np.float64]:
        """The time from the end of each computation until the process reached the barrier [s], shape (processes,)."""

    @property
    def external_load(self) -> NDArray[np.float64]:
        """The share of a core of each host that a process alone on the host would not have got since the last call, from 0 to 1, shape (hosts,)."""

    @property
    def busy_cores(self) -> NDArray[np.float64]:
        """The mean number of cores of each host that other work kept busy since the last call, shape (hosts,)."""

    @property
    def memory_bytes(self) -> NDArray[np.float64]:
        """The memory of each process, which a migration transfers [B], shape (processes,); in `decide` only."""

    @property
    def pinned(self) -> NDArray[np.bool_]:
        """Whether each process must stay on its host, shape (processes,); in `decide` only."""

    @property
    def messages(self) -> list[tuple[int, int, float]]:
        """The messages of the superstep: sender, receiver, bytes; in `decide` only."""

    @property
    def platform(self) -> PlatformView:
        """The platform."""

    @property
    def random(self) -> np.random.Generator:
        """The random generator of this barrier or decision, seeded by the run: equal seeds give equal numbers."""

    def explain(self, reason: str, process: int | None = None) -> None:
        """Gives a reason for the call, or for its decision about a process, moved or not.

        `Run.explain`, the records and the report show it. A process with a reason counts as a candidate of the call.
        """


class Policy:
    """A base class for policies: it makes a call after each superstep, in which no process moves.

    >>> import migsim
    >>> @migsim.policy("fastest", "the slowest process goes to the fastest free host, every few supersteps")
    ... class Fastest(migsim.Policy):
    ...     def __init__(self, every: int = 10) -> None:
    ...         self.every = every
    ...     def is_call_due(self, view):
    ...         return (view.superstep + 1) % self.every == 0
    ...     def decide(self, view):
    ...         speed = view.platform["speed"].copy()
    ...         speed[view.placement] = 0.0
    ...         slowest = int(view.compute_s.argmax())
    ...         view.explain(f"it computed longest, {view.compute_s[slowest]:.3f} s", slowest)
    ...         return {slowest: int(speed.argmax())}
    >>> run = migsim.run(app="sw", n=25, policy="fastest", **{"policy.fastest.every": 20})
    >>> len(run.calls)
    4
    """

    #: Whether it may use `view.random`; if not, its runs are the same for all seeds.
    uses_seed: bool = True
    #: The messages of a call, if `costs.call.model` is `messages`: those of MigBSP (None), or, as a program of `exec` says in `gather`,
    #: `"central"` (all hosts report to one), `"through-managers"`, `"none"`, or
    #: `{"between-neighbours": {"rounds": 10, "max_messages_per_round": 2}}`.
    procedure: str | Mapping[str, Mapping[str, int]] | None = None
    #: The elementary operations of the decision, unless the procedure is that of MigBSP; `decide` may set it. None stands for 100 for
    #: each process.
    operations: int | None = None

    def is_call_due(self, view: View) -> bool:
        """Returns whether a call is due at this barrier; called after each superstep."""
        return True

    def decide(self, view: View) -> Answer:
        """Decides a call: returns the host of each process as an array, or pairs (or a dict) of process and host; None moves no process.

        Processes and hosts are counted from 0. `view.explain` gives reasons.
        """
        return None


def policy(name: str, summary: str = "-") -> Callable[[C], C]:
    """Registers a class as the policy `name`, for `run`, `sweep`, `tune`, `compare` and explanations.

    The class has the methods `is_call_due(view)` and `decide(view)` of `Policy`. The parameters of its constructor are the options of the
    policy (`policy.NAME.OPTION`), each with a default that JSON can represent, whose type is that of the option. An object is created for
    each of the scenarios ii and iii of a run, and for each episode of an `Environment`.
    The settings of a run have the SHA-256 of the code that the class executes, so that a sweep does not continue in the folder of another class.
    Python runs one policy at a time, so that threads speed up a sweep only a little.

    Raises
    ------
    TypeError
        A parameter has no default, or one that JSON cannot represent.
    Error
        migsim itself uses this name, or the name is not allowed in settings.
    """
    return register("policy", name, summary)


#: The allowed forms of an answer.
_FORMS = "answer a dict `{process: host}`, pairs `[(process, host), ...]`, an array of NumPy with the host of each process, or None"


def moves(answer: Any, view: View) -> list[tuple[int, int]]:
    """Returns an answer as pairs of process and host, if both exist."""
    if answer is None:
        return []
    processes, hosts = len(view.placement), len(view.external_load)
    if hasattr(answer, "astype"):
        if answer.shape != (processes,):
            raise ValueError(f"the answer is an array of shape {answer.shape}, and there are {processes} processes; {_FORMS}")
        if answer.dtype.kind not in "iu":
            raise TypeError(f"the answer is an array of {answer.dtype}; hosts are whole numbers, counted from 0")
        pairs = zip(range(processes), answer.tolist(), view.placement.tolist())
        answer = [(process, host) for process, host, present in pairs if host != present]
    elif isinstance(answer, Mapping):
        answer = answer.items()
    elif not isinstance(answer, Iterable):
        raise TypeError(f"the answer is {answer!r}; {_FORMS}")
    found = []
    for place, pair in enumerate(answer):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"entry {place} of the answer is {pair!r}, not a pair of a process and a host; {_FORMS}")
        process, host = pair
        if not isinstance(process, SupportsIndex):
            raise TypeError(f"{process!r} is not the number of a process; {_FORMS}")
        if not isinstance(host, SupportsIndex):
            hint = "hosts are numbers, counted from 0, and `view.platform[\"hosts\"].index(name)` gives the number of a host"
            raise TypeError(f"process {process} cannot go to host {host!r}: {hint}")
        process, host = int(process), int(host)
        if not (0 <= process < processes and 0 <= host < hosts):
            known = f"there are {processes} processes and {hosts} hosts, counted from 0; leave out a process that is to stay"
            raise ValueError(f"process {process} cannot go to host {host}: {known}")
        found.append((process, host))
    return found


def procedure(caller: Any, view: View) -> str:
    """Returns the attributes `procedure` and `operations` as JSON, as in `calls.jsonl`."""
    gather, operations = getattr(caller, "procedure", None), getattr(caller, "operations", None)
    if operations is None:
        operations = 100 * len(view.placement)
    return "null" if gather is None else json.dumps({"gather": gather, "operations": index(operations)})


def decided(caller: Any, view: View) -> tuple[list[tuple[int, int]], str]:
    """Calls `decide` of a policy; returns its moves and its procedure."""
    return moves(caller.decide(view), view), procedure(caller, view)


def policies() -> list[str]:
    """Returns the names of all policies, including those in Python.

    >>> import migsim
    >>> "migbsp" in migsim.policies()
    True
    """
    return known("policies")
