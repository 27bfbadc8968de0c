"""Sweeps, searches and comparisons, as in the command: they use all cores, and continue in their folders after an interruption."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, Unpack

from ._arguments import Folder, Value, arguments, merged
from ._command_line import call
from ._experiment import Settings
from ._keywords import AdviseKeywords, BenchKeywords, BottlenecksKeywords, CompareKeywords, SweepKeywords, TuneKeywords, lists
from ._table import Table

R = TypeVar("R", bound="_Result")


@dataclass(frozen=True)
class Shard:
    """A part of a sweep: it can be pickled and run anywhere with access to its folder.

    Calling the object runs the part and returns its folder.
    """

    #: The flags of the sweep.
    arguments: tuple[str, ...]
    #: The number of this part, counted from 1.
    index: int
    #: The number of parts.
    count: int
    #: The folder of this part.
    folder: str

    def __call__(self, threads: int | None = None) -> str:
        """Runs the part; an interrupted part continues."""
        typed = ["sweep", *self.arguments, "--shard", f"{self.index}/{self.count}", "--out", self.folder]
        typed += [] if threads is None else ["--threads", str(threads)]
        call(typed)
        return self.folder


@lists(SweepKeywords)
class Sweep:
    """A sweep that has not been run.

    >>> import migsim
    >>> sweep = migsim.Sweep(app="sw", n=25, load="walk", alpha=[2, 4, 8], seeds=2)
    >>> len(sweep.run().rows)
    6

    Parameters
    ----------
    seeds
        The seeds of each setting: their number, a list, or a range as text (`"1..10"`).
    out
        The folder of the results; by default a temporary folder, which is deleted with the last object that refers to it.
    progress
        Show a progress bar, if tqdm is installed; by default on a terminal and in a notebook.
    keywords
        As those of `migsim.run`; a list varies a setting (but the values of `change` and `net` apply together). `threads` is the number of
        runs at a time.
    """

    def __init__(
        self, experiment: Settings = None, /, *, seeds: Value = None, out: Value = None, progress: Value = None, **keywords: Unpack[SweepKeywords]
    ) -> None:
        given, named = merged(experiment, keywords)
        threads = named.pop("threads", None)
        self._arguments = arguments(SweepKeywords, named, given, seeds, is_varied=True)
        self._threads = [] if threads is None else ["--threads", str(threads)]
        self._progress, self._folder = progress, Folder(out)
        #: The folder of the results.
        self.folder: str = self._folder.name

    def run(self) -> SweepResult:
        """Simulates the runs that are missing, and returns the rows of all runs."""
        return _done(SweepResult, ["sweep", *self._arguments, *self._threads], self._folder, self._progress)

    def shards(self, count: int) -> list[Shard]:
        """Splits the sweep into parts that can be pickled, each with its own folder inside that of the sweep."""
        parts = range(1, count + 1)
        folder = Path(self.folder) / "parts"
        return [Shard(tuple(self._arguments), part, count, str(folder / str(part))) for part in parts]

    def merge(self, folders: Sequence[str]) -> SweepResult:
        """Joins the folders of all parts."""
        return _done(SweepResult, ["sweep", "merge", *folders], Folder(Path(self.folder) / "merged"), False)

    def __repr__(self) -> str:
        return f"<migsim.Sweep {' '.join(self._arguments)}>"


class _Result:
    """What a command wrote into its folder; it prints as the table of the command."""

    #: The file of its result, if there is one.
    _file = ""

    def __init__(self, folder: str | Folder, text: str = "", notes: Iterable[str] = ()) -> None:
        self._kept, self._text = folder, text.rstrip()
        #: The folder, as the command writes it.
        self.folder: str = folder.name if isinstance(folder, Folder) else folder
        self._path = Path(self.folder)
        #: Notes of the command, also on runs that failed.
        self.notes: list[str] = list(notes)
        #: A row per run: setting, parameters, seed, makespans [s], gain [%], calls, migrations, and the error of a run that failed.
        self.rows: Table = Table.read_csv(self._path / "runs.csv")
        if self._file:
            #: The content of `tune.json` or `compare.json`.
            self.result: dict[str, Any] = json.loads((self._path / self._file).read_text(encoding="utf-8"))

    def _summary(self) -> Table:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self._text or repr(self._summary())

    def _repr_html_(self) -> str:
        return self._summary()._repr_html_()


def _done(kind: type[R], typed: list[str], folder: Folder, progress: Any) -> R:
    """Runs a command that writes a folder of results."""
    # The command prints its table alone.
    text, notes = call([*typed, "--out", folder.name, "--format", "table"], folder.name, progress)
    return kind(folder, text, notes)


class SweepResult(_Result):
    """The rows of a sweep, and its page; it prints as the table of the command, or, made of a folder alone, as its summary."""

    def __init__(self, folder: str | Folder, text: str = "", notes: Iterable[str] = ()) -> None:
        super().__init__(folder, text, notes)
        #: A row per setting: means, deviations and confidence intervals over the seeds.
        self.summary: Table = Table.read_csv(self._path / "summary.csv")

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The rows of the runs that failed."""
        return [row for row in self.rows.rows() if row["error"] is not None]

    @property
    def page(self) -> Path:
        """The page with the best setting, figures and all settings."""
        return self._path / "index.html"

    def _summary(self) -> Table:
        return self.summary


@lists(SweepKeywords)
def sweep(
    experiment: Settings = None, /, *, seeds: Value = None, out: Value = None, progress: Value = None, **keywords: Unpack[SweepKeywords]
) -> SweepResult:
    """Runs an experiment with many values of its settings, on all cores; an interrupted sweep continues in its folder.

    A run that fails is a row with its error, and a warning tells of it.

    >>> import migsim
    >>> result = migsim.sweep(app="sw", n=25, policy=["migbsp", "never"], **{"policy.migbsp.x": [0.5, 0.9]})
    >>> result.rows.columns[:3]
    ['setting', 'policy', 'policy.migbsp.x']

    Parameters are those of `Sweep`.
    """
    return Sweep(experiment, seeds=seeds, out=out, progress=progress, **keywords).run()


class Tuning(_Result):
    """The result of a search for good parameters; it prints as the table of the command, or, made of a folder alone, as its best setting."""

    _file = "tune.json"

    @property
    def best(self) -> Any:
        """The values of the best setting."""
        return self.result["best"]

    @property
    def gain_percent(self) -> Any:
        """Its gain over the defaults on new seeds: mean, deviation and half of the 95 % interval."""
        return self.result["comparison"]["gain_percent"]

    def _summary(self) -> Table:
        return Table._of_dicts("best", self.best, [self.best])


@lists(TuneKeywords)
def tune(
    experiment: Settings = None, /, *, seeds: Value = None, out: Value = None, progress: Value = None, **keywords: Unpack[TuneKeywords]
) -> Tuning:
    """Searches for the best parameters of a policy, within a budget of runs.

    >>> import migsim
    >>> found = migsim.tune(app="sw", n=25, budget=6, seeds=1, **{"policy.migbsp.alpha": [2, 4, 8]})
    >>> sorted(found.result)[:3]
    ['best', 'command', 'comparison']
    """
    typed = arguments(TuneKeywords, keywords, experiment, seeds, is_varied=True)
    return _done(Tuning, ["tune", *typed], Folder(out), progress)


class Advice:
    """What to do with an application on a platform: a start and a policy, or no moves.

    Parameters
    ----------
    found
        The JSON of `migsim advise`.
    """

    def __init__(self, found: dict[str, Any], notes: Iterable[str] = ()) -> None:
        #: Notes of the command.
        self.notes: list[str] = list(notes)
        #: All that the command found.
        self.result: dict[str, Any] = found
        #: What to do, what it gains, and what would change the advice.
        self.sentences: list[str] = found["sentences"]
        #: The mapping rule of the start, or None for the start as it is.
        self.start: str | None = found["advised"]["start"]
        #: The policy; `never` if moves do not pay.
        self.policy: str = found["advised"]["policy"]
        #: The command that follows the advice.
        self.command: str = found["command"]
        #: A row per pair of start and policy: mean makespans of the first part and of the whole application [s], the latter where it was simulated.
        self.pairs: Table = Table._of_dicts("pairs", ["start", "policy", "first_part_s", "whole_s"], found["pairs"])

    def __repr__(self) -> str:
        return "\n".join(self.sentences)


@lists(AdviseKeywords)
def advise(
    experiment: Settings = None, /, *, seeds: Value = None, out: Value = None, progress: Value = None, **keywords: Unpack[AdviseKeywords]
) -> Advice:
    """Chooses the start and the policy for an application on a platform, or none, and judges the choice with other seeds.

    >>> import migsim
    >>> advice = migsim.advise(app="synthetic", procs=8, policies=["never", "refine"], **{"workload.supersteps": 20})
    >>> advice.policy
    'never'

    Parameters
    ----------
    seeds
        The seeds with which pairs are compared, by default three.
    out
        The folder that keeps the runs; the same call continues there.
    keywords
        As those of `migsim.compare`; `policy` and `scenario` are refused.
    """
    typed = ["advise", *arguments(AdviseKeywords, keywords, experiment, seeds, is_varied=True), "--json"]
    text, notes = call(typed if out is None else [*typed, "--out", Folder(out).name], str(out or ""), progress)
    return Advice(json.loads(text), notes)


class Comparison(_Result):
    """A comparison of policies; it prints as the table of the command, or, made of a folder alone, as the ranking and the verdict."""

    _file = "compare.json"

    @property
    def verdict(self) -> str:
        """The result in sentences."""
        told = self.result["verdict"]
        return told if isinstance(told, str) else " ".join(told)

    @property
    def policies(self) -> list[dict[str, Any]]:
        """The policies, the best first."""
        return list(self.result["policies"])

    @property
    def ranking(self) -> Table:
        """A row per policy, the best first, with means over the seeds.

        The `rank` is 1 + the number of policies that are faster by more than the margin of indifference (with several seeds: significant at
        95 %, corrected by Holm's method). `policy` is the name with the trigger. `makespan_s` is
        that of scenario iii, `behind_best_s` the difference from the best policy, paired by seed, and `gain_percent` the gain over scenario i.
        `calls` and `moves` are mean numbers, `calls_cost_s` and `moves_cost_s` their mean prices. `regret_percent` is the distance from the best
        run of each seed. `above_bound_percent` is the distance from the lower bound. Half of a 95 % interval is in a column after its mean, as in
        `makespan_ci95_s`.
        """
        return Table._of_dicts("ranking", _RANKING, map(_ranked, self.policies))

    def _summary(self) -> Table:
        return self.ranking

    def __repr__(self) -> str:
        return self._text or f"{self.ranking!r}\n\n{self.verdict}"

    def _repr_html_(self) -> str:
        return super()._repr_html_() + f"<p>{html.escape(self.verdict)}</p>"


#: The columns of a ranking.
_RANKING = [
    "rank", "policy", "makespan_s", "makespan_ci95_s", "behind_best_s", "behind_best_ci95_s", "gain_percent", "gain_ci95_percent",
    "calls", "moves", "calls_cost_s", "moves_cost_s", "regret_percent", "regret_ci95_percent", "above_bound_percent",
]


def _ranked(policy: dict[str, Any]) -> dict[str, Any]:
    """Returns the row of a policy in a ranking."""
    row = dict(policy)
    for name in ("makespan_s", "behind_best_s", "gain_percent"):
        stem, unit = name.rsplit("_", 1)
        sample = policy[name] or {}
        row |= {name: sample.get("mean"), f"{stem}_ci95_{unit}": sample.get("ci95")}
    return row


@lists(CompareKeywords)
def compare(
    experiment: Settings = None, /, *, seeds: Value = None, out: Value = None, progress: Value = None, **keywords: Unpack[CompareKeywords]
) -> Comparison:
    """Runs policies on the same seeds and reports which is best, with its significance.

    >>> import migsim
    >>> result = migsim.compare(app="sw", n=25, policies=["migbsp", "greedy", "never"], seeds=2)
    >>> len(result.policies)
    3
    """
    typed = arguments(CompareKeywords, keywords, experiment, seeds, is_varied=True)
    return _done(Comparison, ["compare", *typed], Folder(out), progress)


class Bottlenecks:
    """The causal profile of a run: the run again with one quantity changed at a time.

    Parameters
    ----------
    found
        The JSON of `migsim bottlenecks`.
    """

    def __init__(self, found: dict[str, Any], notes: Iterable[str] = ()) -> None:
        #: Notes of the command.
        self.notes: list[str] = list(notes)
        #: The makespan without a change [s].
        self.makespan: float = found["makespan_s"]
        #: Three sentences about the numbers.
        self.verdict: str = found["verdict"]
        #: A row per change, ordered by the gain of its quantity: `change` (a value of the keyword `change`), makespan, gain.
        self.changes: Table = Table._of_dicts("changes", ["change", "makespan_s", "gain_percent", "gain_ci95_percent"], found["changes"])
        #: The critical path summed by kind, resource and process, the longest first.
        self.path: Table = Table._of_dicts("path", ["kind", "resource", "process", "seconds", "percent"], found["path"])

    def __repr__(self) -> str:
        return repr(self.changes)


@lists(BottlenecksKeywords)
def bottlenecks(experiment: Settings = None, /, *, seeds: Value = None, **keywords: Unpack[BottlenecksKeywords]) -> Bottlenecks:
    """Finds the bottlenecks of a run: changes one quantity at a time, by 10 % and without limit.

    >>> import migsim
    >>> found = migsim.bottlenecks(app="lu", n=200, procs=25)
    >>> best = next(found.changes.rows())["change"]
    >>> migsim.run(app="lu", n=200, procs=25, change=best).makespan < found.makespan
    True

    Parameters
    ----------
    seeds
        The seeds of each change; gains are then means.
    keywords
        As those of `migsim.run`, with `hold_decisions` and `pairs`.
    """
    text, notes = call(["bottlenecks", *arguments(BottlenecksKeywords, keywords, experiment, seeds), "--json"])
    return Bottlenecks(json.loads(text), notes)


@lists(BenchKeywords)
def bench(*, seeds: Value = None, out: Value = None, progress: Value = None, **keywords: Unpack[BenchKeywords]) -> Table:
    """Runs policies on the cases of a suite, and returns a row for each policy, the lowest mean ratio to the best known first.

    >>> import migsim
    >>> rows = migsim.bench(draw=1, cases=1, seeds=1, policies="refine/every=50")
    >>> "refine/every=50" in list(rows["policy"])
    True

    Parameters
    ----------
    seeds
        The seeds of each case, by default those of the suite.
    out
        The folder that keeps the runs; the same call continues there.
    keywords
        The flags of `migsim bench`: `suite`, `draw`, `cases`, `policies`, `start` (of several starts the rows of the first are returned). Notes of the command are in `.notes` of the table.
    """
    typed = ["bench", *arguments(BenchKeywords, keywords, None, seeds), "--json"]
    text, notes = call(typed if out is None else [*typed, "--out", Folder(out).name], str(out or ""), progress)
    rows = json.loads(text)["policies"]
    for row in rows:
        for name in [name for name in row if name.endswith("_ci95")]:
            row[f"{name}_low"], row[f"{name}_high"] = row.pop(name) or (None, None)
    return Table._of_dicts("bench", list(rows[0]), rows, notes)
