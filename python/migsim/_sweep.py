"""Sweeps, searches and comparisons, as in the command: they use all cores, and continue in their folders after an interruption."""

from __future__ import annotations

import html
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ._arguments import Value, arguments
from ._command_line import call, call_beside
from ._table import Table


#: Flags with which a command prints only its table.
_TABLE = ["--quiet", "--format", "table"]


def _folder(out: str | PathLike[str] | None) -> str:
    return tempfile.mkdtemp(prefix="migsim-") if out is None else fspath(out)


def _seeds(seeds: int | Sequence[int] | str | None) -> list[str]:
    if seeds is None:
        return []
    if isinstance(seeds, int):
        return ["--seeds", f"1..{seeds}"]
    if isinstance(seeds, str):
        return ["--seeds", seeds]
    return ["--seeds", ",".join(str(int(seed)) for seed in seeds)]


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
        call_beside([*typed, "--quiet"])
        return self.folder


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
        The folder of the results; by default a new temporary folder.
    threads
        The number of runs at a time; by default one per core.
    keywords
        As those of `migsim.run`; a list varies a setting.
    """

    def __init__(
        self,
        experiment: str | PathLike[str] | None = None,
        /,
        *,
        seeds: int | Sequence[int] | str | None = None,
        out: str | PathLike[str] | None = None,
        threads: int | None = None,
        **keywords: Value,
    ) -> None:
        named = [] if experiment is None else [fspath(experiment)]
        self._arguments = [*named, *arguments("sweep", keywords, is_varied=True), *_seeds(seeds)]
        self._threads = [] if threads is None else ["--threads", str(threads)]
        #: The folder of the results.
        self.folder: str = _folder(out)

    def run(self) -> SweepResult:
        """Simulates the runs that are missing, and returns the rows of all runs."""
        text = call_beside(["sweep", *self._arguments, *self._threads, "--out", self.folder, *_TABLE])
        return SweepResult(self.folder, text)

    def shards(self, count: int) -> list[Shard]:
        """Splits the sweep into parts that can be pickled, each with its own folder inside that of the sweep."""
        parts = range(1, count + 1)
        folder = Path(self.folder) / "parts"
        return [Shard(tuple(self._arguments), part, count, str(folder / str(part))) for part in parts]

    def merge(self, folders: Sequence[str]) -> SweepResult:
        """Joins the folders of all parts."""
        merged = str(Path(self.folder) / "merged")
        text = call(["sweep", "merge", *folders, "--out", merged, *_TABLE])
        return SweepResult(merged, text)


class SweepResult:
    """The rows of a sweep, and its page; it prints as the table of the command.

    Parameters
    ----------
    folder
        The folder of a sweep.
    text
        The output of the command; if missing, the summary is printed.
    """

    def __init__(self, folder: str, text: str | None = None) -> None:
        #: The folder, as `migsim sweep` writes it.
        self.folder = folder
        self._text = text
        self._path = Path(folder)

    @property
    def rows(self) -> Table:
        """A row per run: setting, parameters, seed, makespans [s], gain [%], calls, migrations."""
        return Table.read_csv(self._path / "runs.csv")

    @property
    def summary(self) -> Table:
        """A row per setting: means, deviations and confidence intervals over the seeds."""
        return Table.read_csv(self._path / "summary.csv")

    @property
    def page(self) -> Path:
        """The page with the best setting, figures and all settings."""
        return self._path / "index.html"

    def __repr__(self) -> str:
        return repr(self.summary) if self._text is None else self._text.rstrip()

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()


def sweep(
    experiment: str | PathLike[str] | None = None,
    /,
    *,
    seeds: int | Sequence[int] | str | None = None,
    out: str | PathLike[str] | None = None,
    threads: int | None = None,
    **keywords: Value,
) -> SweepResult:
    """Runs an experiment with many values of its settings, on all cores; an interrupted sweep continues in its folder.

    >>> import migsim
    >>> result = migsim.sweep(app="sw", n=25, policy=["migbsp", "never"], **{"policy.migbsp.x": [0.5, 0.9]})
    >>> result.rows.columns[:3]
    ['setting', 'policy', 'policy.migbsp.x']

    Parameters are those of `Sweep`.
    """
    return Sweep(experiment, seeds=seeds, out=out, threads=threads, **keywords).run()


class Tuning:
    """The result of a search for good parameters; it prints as the table of the command.

    Parameters
    ----------
    folder
        The folder of a search.
    text
        The output of the command; if missing, the best setting is printed.
    """

    def __init__(self, folder: str, text: str | None = None) -> None:
        #: The folder, as `migsim tune` writes it.
        self.folder = folder
        self._text = text
        #: The content of `tune.json`.
        self.result: dict[str, Any] = json.loads((Path(folder) / "tune.json").read_text(encoding="utf-8"))

    @property
    def best(self) -> Any:
        """The values of the best setting."""
        return self.result["best"]

    @property
    def gain_percent(self) -> Any:
        """Its gain over the defaults on new seeds: mean, deviation and half of the 95 % interval."""
        return self.result["comparison"]["gain_percent"]

    @property
    def rows(self) -> Table:
        """A row per run that was tried."""
        return Table.read_csv(Path(self.folder) / "runs.csv")

    def __repr__(self) -> str:
        return f"<migsim.Tuning best {self.best}>" if self._text is None else self._text.rstrip()


def tune(
    experiment: str | PathLike[str] | None = None,
    /,
    *,
    seeds: int | Sequence[int] | str | None = None,
    out: str | PathLike[str] | None = None,
    **keywords: Value,
) -> Tuning:
    """Searches for the best parameters of a policy, within a budget of runs.

    >>> import migsim
    >>> found = migsim.tune(app="sw", n=25, budget=6, seeds=1, **{"policy.migbsp.alpha": [2, 4, 8]})
    >>> sorted(found.result)[:3]
    ['best', 'command', 'comparison']
    """
    folder = _folder(out)
    named = [] if experiment is None else [fspath(experiment)]
    typed = [*named, *arguments("tune", keywords, is_varied=True), *_seeds(seeds)]
    text = call_beside(["tune", *typed, "--out", folder, *_TABLE])
    return Tuning(folder, text)


class Comparison:
    """A comparison of policies; it prints as the table of the command.

    Parameters
    ----------
    folder
        The folder of a comparison.
    text
        The output of the command; if missing, the ranking and the verdict are printed.
    """

    def __init__(self, folder: str, text: str | None = None) -> None:
        #: The folder, as `migsim compare` writes it.
        self.folder = folder
        self._text = text
        #: The content of `compare.json`.
        self.result: dict[str, Any] = json.loads((Path(folder) / "compare.json").read_text(encoding="utf-8"))

    @property
    def verdict(self) -> str:
        """The result in sentences."""
        told = self.result["verdict"]
        return told if isinstance(told, str) else " ".join(told)

    @property
    def policies(self) -> list[dict[str, Any]]:
        """The policies, the best first."""
        found: list[dict[str, Any]] = self.result["policies"]
        return found

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
        return Table._of_rows(_RANKING, map(_ranked, self.policies))

    @property
    def rows(self) -> Table:
        """A row per run."""
        return Table.read_csv(Path(self.folder) / "runs.csv")

    def __repr__(self) -> str:
        return f"{self.ranking!r}\n\n{self.verdict}" if self._text is None else self._text.rstrip()

    def _repr_html_(self) -> str:
        return self.ranking._repr_html_() + f"<p>{html.escape(self.verdict)}</p>"


#: The columns of a ranking.
_RANKING = [
    "rank",
    "policy",
    "makespan_s",
    "makespan_ci95_s",
    "behind_best_s",
    "behind_best_ci95_s",
    "gain_percent",
    "gain_ci95_percent",
    "calls",
    "moves",
    "calls_cost_s",
    "moves_cost_s",
    "regret_percent",
    "regret_ci95_percent",
    "above_bound_percent",
]


def _ranked(one: dict[str, Any]) -> list[Any]:
    """Returns the row of a policy in a ranking."""
    row = dict(one)
    for name in ("makespan_s", "behind_best_s", "gain_percent"):
        stem, unit = name.rsplit("_", 1)
        sample = one[name] or {}
        row |= {name: sample.get("mean"), f"{stem}_ci95_{unit}": sample.get("ci95")}
    return [row[name] for name in _RANKING]


def compare(
    experiment: str | PathLike[str] | None = None,
    /,
    *,
    seeds: int | Sequence[int] | str | None = None,
    out: str | PathLike[str] | None = None,
    **keywords: Value,
) -> Comparison:
    """Runs policies on the same seeds and reports which is best, with its significance.

    >>> import migsim
    >>> result = migsim.compare(app="sw", n=25, policies=["migbsp", "greedy", "never"], seeds=2)
    >>> len(result.policies)
    3
    """
    folder = _folder(out)
    named = [] if experiment is None else [fspath(experiment)]
    typed = [*named, *arguments("compare", keywords, is_varied=True), *_seeds(seeds)]
    text = call_beside(["compare", *typed, "--out", folder, *_TABLE])
    return Comparison(folder, text)


class Bottlenecks:
    """The causal profile of a run: the run again with one quantity changed at a time.

    Parameters
    ----------
    found
        The JSON of `migsim bottlenecks`.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found
        #: The makespan without a change [s].
        self.makespan: float = found["makespan_s"]
        #: Three sentences about the numbers.
        self.verdict: str = found["verdict"]

    def _rows(self, name: str) -> Table:
        rows = self._found[name]
        names = list(rows[0]) if rows else []
        return Table._of_rows(names, ([row[one] for one in names] for row in rows))

    @property
    def changes(self) -> Table:
        """A row per change, ordered by the gain of its quantity: `change` (a value of the keyword `change`), makespan, gain."""
        return self._rows("changes")

    @property
    def path(self) -> Table:
        """The critical path summed by kind, resource and process, the longest first."""
        return self._rows("path")

    def __repr__(self) -> str:
        return repr(self.changes)


def bottlenecks(
    experiment: str | PathLike[str] | None = None,
    /,
    *,
    seeds: int | Sequence[int] | str | None = None,
    **keywords: Value,
) -> Bottlenecks:
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
    named = [] if experiment is None else [fspath(experiment)]
    typed = [*named, *arguments("bottlenecks", keywords), *_seeds(seeds)]
    return Bottlenecks(json.loads(call_beside(["bottlenecks", *typed, "--json", "--quiet"])))


def bench(
    *,
    seeds: int | Sequence[int] | str | None = None,
    out: str | PathLike[str] | None = None,
    **keywords: Value,
) -> Table:
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
        The flags of `migsim bench`: `suite`, `draw`, `cases`, `policies`.
    """
    kept = [] if out is None else ["--out", fspath(out)]
    typed = [*arguments("bench", keywords), *_seeds(seeds), *kept]
    rows = json.loads(call_beside(["bench", *typed, "--json", "--quiet"]))["policies"]
    return Table._of_rows(list(rows[0]), (list(row.values()) for row in rows))
