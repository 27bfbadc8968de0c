"""Experiments: checked settings, and their runs."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import Any

from . import _core
from ._arguments import Value, arguments
from ._plugin import plugins
from ._run import Run


class Experiment:
    """An application on a platform under a policy, with all settings.

    >>> import migsim
    >>> experiment = migsim.Experiment(app="sw", n=25, seed=3)
    >>> experiment.settings["seed"]
    3
    >>> experiment.with_(seed=4).settings["seed"]
    4

    It can be pickled. A copy in another process is made from the same arguments and reads the files that they name. Import the module of a
    class of your own there first.

    Parameters
    ----------
    settings
        The experiment that the keywords modify: a dict, the name of a file, or the name of a built-in experiment.
    keywords
        The flags of `migsim run` (`app="lu"`, `n=2000`, `policy="migbsp"`, `load="walk"`); with `**{...}` any key of an experiment
        (`"policy.migbsp.x": 0.3`). A platform may be a dict.

    Raises
    ------
    migsim.Error
        The settings or a file have errors; all problems are reported.
    TypeError
        There is no such keyword.
    """

    def __init__(
        self, settings: Mapping[str, Any] | str | PathLike[str] | None = None, /, **keywords: Value
    ) -> None:
        # A dict that the caller changes later must not change the experiment.
        self._given = copy.deepcopy(dict(settings)) if isinstance(settings, Mapping) else settings
        self._keywords = dict(keywords)
        self._core = self._made()

    def _made(self) -> _core.Experiment:
        """Reads the settings, and creates the application."""
        typed, beneath = arguments("run", self._keywords), None
        if isinstance(self._given, Mapping):
            beneath = ("settings", json.dumps(self._given))
        elif self._given is not None:
            typed.append(fspath(self._given))
        return _core.Experiment(typed, beneath, plugins())

    @property
    def settings(self) -> dict[str, Any]:
        """All settings, including defaults: an experiment file as a dict."""
        settings: dict[str, Any] = json.loads(self._core.settings)
        return settings

    @property
    def notes(self) -> list[str]:
        """Notes on how the settings were read."""
        return self._core.notes

    def with_(self, **keywords: Value) -> Experiment:
        """Returns the same experiment with other settings."""
        return Experiment(self._given, **{**self._keywords, **keywords})

    def run(self, *, processes: bool = False, progress: bool | None = None) -> Run:
        """Runs all scenarios; Ctrl-C stops it after a superstep.

        Parameters
        ----------
        processes
            Record the activity of each process in each superstep (`Run.processes`); without it, reading that table repeats the run.
        progress
            Show a progress bar, if tqdm is installed; by default on a terminal.
        """
        supersteps, _, scenarios = self._core.size
        tell, close = _bar(supersteps * scenarios, progress)
        try:
            has_starts = not self._keywords.get("no_static_starts", False)
            return Run._of(self._core.run(processes, tell, has_starts), processes)
        except BaseException:
            # An application that has failed keeps its error; the next run begins with a new one.
            self._core = self._made()
            raise
        finally:
            close()

    def __reduce__(self) -> tuple[Any, ...]:
        return (_experiment, (self._given, self._keywords))

    def __repr__(self) -> str:
        settings = self.settings
        app, platform = settings["workload"]["app"], settings["platform"]
        return f"<migsim.Experiment {app} on {platform} ({settings['policy']['name']})>"


def _experiment(settings: Mapping[str, Any] | str | PathLike[str] | None, keywords: Mapping[str, Value]) -> Experiment:
    """Creates an experiment from its arguments, for pickle."""
    return Experiment(settings, **keywords)


def _bar(total: int, progress: bool | None) -> tuple[Callable[[int], object] | None, Callable[[], object]]:
    """Returns the functions that update and close a progress bar."""
    is_wanted = sys.stderr.isatty() if progress is None else progress
    if not is_wanted:
        return None, lambda: None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None, lambda: None
    bar = tqdm(total=total, unit="supersteps", leave=False, delay=0.5)

    def tell(done: int) -> None:
        # Static starts are run in addition to the scenarios.
        bar.update(min(done, total) - bar.n)

    return tell, bar.close


def run(
    settings: Mapping[str, Any] | str | PathLike[str] | None = None,
    /,
    *,
    processes: bool = False,
    progress: bool | None = None,
    **keywords: Value,
) -> Run:
    """Runs an experiment: all scenarios, unless `scenario` names some.

    >>> import migsim
    >>> run = migsim.run(app="lu", n=500, procs=25, platform="ufrgs", policy="migbsp", seed=1, **{"policy.migbsp.x": 0.9})
    >>> len(run.supersteps)
    3003

    Parameters are those of `Experiment` and `Experiment.run`.
    """
    return Experiment(settings, **keywords).run(processes=processes, progress=progress)
