"""Experiments: checked settings, and their runs."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from functools import partial
from os import PathLike
from typing import Any, TypeAlias, Union, Unpack

from . import _core
from ._arguments import Value, arguments, is_true, merged
from ._errors import warn
from ._keywords import RunKeywords, lists
from ._plugin import plugins
from ._progress import bar
from ._run import Run

#: An experiment that keywords modify: a dict, the name of a file or of a built-in experiment, or another experiment.
Settings: TypeAlias = Union[Mapping[str, Any], str, "PathLike[str]", "Experiment", None]


@lists(RunKeywords)
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
        The experiment that the keywords modify: a dict, an `Experiment`, the name of a file, or the name of a built-in experiment.
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

    def __init__(self, settings: Settings = None, /, **keywords: Unpack[RunKeywords]) -> None:
        # A dict that the caller changes later must not change the experiment.
        self._given, self._keywords = merged(copy.deepcopy(settings) if isinstance(settings, Mapping) else settings, keywords)
        self._make()

    def _make(self) -> None:
        """Reads the settings, and creates the application."""
        self._plugins = plugins()
        self._core = _core.Experiment(["migsim", "run", *arguments(RunKeywords, self._keywords, self._given)], self._plugins)

    @property
    def settings(self) -> dict[str, Any]:
        """All settings, including defaults: an experiment file as a dict."""
        return dict(json.loads(self._core.settings))

    @property
    def notes(self) -> list[str]:
        """Notes on how the settings were read."""
        return self._core.notes

    def with_(self, **keywords: Unpack[RunKeywords]) -> Experiment:
        """Returns the same experiment with other settings."""
        return Experiment(self, **keywords)

    def run(self, *, processes: Value = False, progress: Value = None) -> Run:
        """Runs all scenarios; Ctrl-C stops it after a superstep.

        Parameters
        ----------
        processes
            Record the activity of each process in each superstep (`Run.processes`); without it, reading that table repeats the run.
        progress
            Show a progress bar, if tqdm is installed; by default on a terminal and in a notebook.
        """
        tell, close = bar(progress, "supersteps")
        # Static starts are run in addition to the scenarios.
        count = None if tell is None else (lambda done: tell(done, self._core.supersteps))
        try:
            has_starts = not self._keywords.get("no_static_starts", False)
            core = self._core.run(is_true("processes", processes), count, has_starts)
            warn(self.notes)
            return Run(json.loads(core.manifest), core, plugins=self._plugins, notes=self.notes)
        except BaseException:
            # An application that has failed keeps its error; the next run begins with a new one.
            self._make()
            raise
        finally:
            close()

    def __reduce__(self) -> tuple[Any, ...]:
        return (partial(Experiment, self._given, **self._keywords), ())

    def __repr__(self) -> str:
        settings = self.settings
        return f"<migsim.Experiment {settings['workload']['app']} on {settings['platform']} ({settings['policy']['name']})>"


@lists(RunKeywords)
def run(
    settings: Settings = None, /, *, processes: Value = False, progress: Value = None, **keywords: Unpack[RunKeywords]
) -> Run:
    """Runs an experiment: all scenarios, unless `scenario` names some.

    >>> import migsim
    >>> run = migsim.run(app="lu", n=500, procs=25, platform="ufrgs", policy="migbsp", seed=1, **{"policy.migbsp.x": 0.9})
    >>> len(run.supersteps)
    3003

    Parameters are those of `Experiment` and `Experiment.run`.
    """
    return Experiment(settings, **keywords).run(processes=processes, progress=progress)
