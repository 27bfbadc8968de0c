"""A run that stops at each barrier, where the caller decides, with the interface of Gymnasium."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, Union, Unpack

from . import _core
from ._arguments import Value, plain
from ._errors import warn
from ._experiment import Experiment, Settings
from ._keywords import RunKeywords, lists
from ._policy import View, moves, procedure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: An action at a barrier: no call (None, False), a call of the policy (True), or the moves of a call.
Action: TypeAlias = Union[None, bool, "NDArray[np.int64]", Mapping[int, int], Iterable[tuple[int, int]]]


@lists(RunKeywords)
class Environment:
    """A run of scenario iii that stops at each barrier, where it can be inspected, advanced and copied.

    Its methods are those of an environment of Gymnasium, which need not be installed; `migsim.gymnasium.Env` is one with spaces. An episode
    is one run. `reset` simulates the first superstep; each `step` acts at a barrier and simulates the next superstep. The last barrier needs
    no action, so that the run ends there.

    >>> import migsim
    >>> env = migsim.Environment(app="synthetic", procs=16, policy="refine", **{"workload.supersteps": 50, "workload.spread": 0.8})
    >>> view, info = env.reset(seed=1)
    >>> view.superstep, len(view.placement)
    (0, 16)
    >>> other = env.clone()
    >>> _, stay, *_ = env.step(False)
    >>> _, move, *_ = other.step(True)
    >>> stay < 0, move < 0
    (True, True)

    The observation is a `View`, as for policies, with the load of the hosts up to now. The reward of a step is minus the seconds from
    this barrier to the next one. They include the price of the call and of its moves. The last step continues to the end of the run. The
    seconds of `reset` and the rewards add up to the makespan: `info["makespan_s"]` of the last step.

    The settings determine the prices of calls and moves (`"costs.call.model"` and others). A barrier without a call costs nothing. A call of
    the policy has its procedure, also if its moves are those of the last `propose`. A call with other moves has that of the attributes
    `procedure` and `operations`, which mean the same as those of `Policy`: by default the procedure of MigBSP.

    Parameters
    ----------
    settings
        As those of `Experiment`.
    keywords
        As those of `Experiment`. `policy` names the policy for `step(True)` and `propose`; its trigger is not used.

    Raises
    ------
    migsim.Error
        The settings or a file have errors.
    """

    #: The messages of calls with own moves, as `Policy.procedure`.
    procedure: str | Mapping[str, Mapping[str, int]] | None = None
    #: The elementary operations of such a call; None stands for 100 for each process.
    operations: int | None = None

    def __init__(self, settings: Settings = None, /, **keywords: Unpack[RunKeywords]) -> None:
        self._experiment = Experiment(settings, **keywords)
        self._core = _core.Environment(self._experiment._core)
        warn(self.notes)

    @property
    def settings(self) -> dict[str, Any]:
        """All settings of this episode, including defaults."""
        return self._experiment.settings

    @property
    def notes(self) -> list[str]:
        """Notes on how the settings were read."""
        return self._experiment.notes

    @property
    def view(self) -> View:
        """The barrier as a policy sees it. A step overwrites its arrays; a copy has a view of its own."""
        return self._core.view

    def reset(self, *, seed: int | None = None, options: Mapping[str, Value] | None = None) -> tuple[View, dict[str, float]]:
        """Begins a run and simulates its first superstep; returns the view of its barrier, and `now_s`, the seconds so far.

        Parameters
        ----------
        seed
            The seed of the application, the load and the strategy; by default the previous one, which repeats the episode.
        options
            Other settings from now on, as keywords of `Experiment`.
        """
        changed: dict[str, Any] = dict(options or {})
        if seed is not None:
            changed["seed"] = seed
        if changed or self._core.has_failed:
            self._experiment = self._experiment.with_(**changed)
        self._core = _core.Environment(self._experiment._core)
        return self.view, {"now_s": self._core.now_s}

    def step(self, action: Action = None) -> tuple[View, float, bool, bool, dict[str, float]]:
        """Acts at this barrier and simulates the next superstep.

        Returns the view of the next barrier, the reward, whether the run is over, False (runs are never truncated), and a dict: the time
        `now_s`, the price of the call `call_s` and that of its moves `moves_s`, and, if the run is over, `makespan_s`.

        Parameters
        ----------
        action
            None or False: no call. True: a call of `policy`. A dict or pairs of process and host, or an array with the host
            of each process: a call with these moves. Processes and hosts are counted from 0.

        Raises
        ------
        migsim.Error
            The moves are impossible; the run stays at this barrier.
        ValueError
            The run is over, there is no such process or host, or this is a copy and `policy` cannot be copied (`exec`,
            `bandit` and others).
        TypeError
            The action is none of these.
        RuntimeError
            The run ended with an error before, or another thread steps this object.
        """
        if isinstance(action, Iterable):
            action = moves(action, self.view)
        elif not (action is None or isinstance(plain(action), bool)):
            raise TypeError(f"the action is {action!r}; give None or False (no call), True (a call of the strategy), or the moves of a call")
        seconds, is_over, call_s, moves_s, now_s = self._core.step(action, procedure(self, self.view))
        info = {"now_s": now_s, "call_s": call_s, "moves_s": moves_s}
        if is_over:
            info["makespan_s"] = now_s
        return self.view, -seconds, is_over, False, info

    def propose(self) -> dict[int, int]:
        """The moves that `policy` would decide at this barrier; nothing changes.

        Raises
        ------
        ValueError
            The policy cannot be copied (`exec`, `bandit` and others).
        """
        return dict(self._core.propose())

    def clone(self) -> Environment:
        """Returns an independent copy, which continues from this barrier."""
        copy = object.__new__(Environment)
        vars(copy).update(vars(self), _core=self._core.clone())
        return copy

    def close(self) -> None:
        """Does nothing; an environment needs no end."""

    def __repr__(self) -> str:
        state = "over" if self._core.is_over else "at a barrier"
        return f"<migsim.Environment {state} at {self._core.now_s:.6g} s>"
