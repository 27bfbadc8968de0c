"""Runs that were simulated, or were read from their folders."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from . import _core
from ._arguments import Folder
from ._command_line import call
from ._table import Table


class Scenario:
    """One scenario of a run: i (application only), ii (calls without moves) or iii (calls and moves)."""

    def __init__(self, summary: Mapping[str, Any]) -> None:
        self._summary = summary
        #: `i`, `ii` or `iii`.
        self.name: str = summary["scenario"]
        #: Execution time [s].
        self.makespan: float = summary["makespan_s"]
        #: Time during which all processes waited for calls [s].
        self.scheduling: float = summary["scheduling_s"]
        #: Time during which processes waited for migrations [s].
        self.migration: float = summary["migration_s"]
        #: Migrations that happened.
        self.moved: int = summary["moved"]
        #: Messages that were simulated.
        self.messages: int = summary["messages"]
        #: The hash of all times, which is equal for equal runs.
        self.event_hash: str = summary["event_hash"]
        #: Rescheduling calls.
        self.calls: int = len(summary["calls"])
        #: Migrations of scenario iii that take a process back to the host that its previous move left.
        self.straight_returns: int = summary.get("straight_returns", 0)

    @property
    def ledger(self) -> dict[str, float] | None:
        """The difference from scenario i, split into terms [s]; None without scenario i."""
        found = self._summary.get("ledger")
        return None if found is None else {key: value for key, value in found.items() if key.endswith("_s")}

    @property
    def gain_percent(self) -> float | None:
        """The gain 100 (i - iii) / i; only for scenario iii of a run with scenario i, else None."""
        return self._summary.get("gain_percent")

    @property
    def overhead_percent(self) -> float | None:
        """The overhead 100 (ii - i) / i; only for scenario ii of a run with scenario i, else None."""
        return self._summary.get("overhead_percent")

    def __repr__(self) -> str:
        return f"<migsim.Scenario {self.name}: {self.makespan} s>"


class Run:
    """A run: its scenarios, tables, explanations, report.

    >>> import migsim
    >>> run = migsim.run(app="lu", n=500, procs=25)
    >>> run.scenarios["iii"].moved
    0
    >>> len(run.processes)
    75075

    It can be pickled, with its tables and explanations. A copy in another process, and a run that was read from a folder, repeat the run
    only for `save`, `critical_path`, and for `processes` and `links` that were not recorded.
    """

    def __init__(
        self,
        manifest: dict[str, Any],
        core: _core.Run | None = None,
        folder: Folder | None = None,
        plugins: Sequence[_core.Plugin] | None = None,
        notes: list[str] | None = None,
        text: str = "",
    ) -> None:
        self._manifest, self._core, self._plugins, self._text = manifest, core, plugins, text
        #: Its folder; that of a run that was done is written when it is first needed.
        self._folder = folder
        self._tables: dict[str, Table] = {}
        self._repeated: Run | None = None
        #: Notes on how the settings were read.
        self.notes: list[str] = notes or []
        #: The scenarios by name.
        self.scenarios: dict[str, Scenario] = {one["scenario"]: Scenario(one) for one in manifest["summary"]["scenarios"]}

    def __reduce__(self) -> tuple[Any, ...]:
        has_processes = self._core is not None and self._core.has_processes
        files = (file for file in self._path(has_processes).iterdir() if file.suffix in (".json", ".jsonl", ".csv"))
        return (_unpickled, (self._manifest, {file.name: zlib.compress(file.read_bytes(), 1) for file in files}, self.notes, str(self)))

    def _path(self, processes: bool = False) -> Path:
        """Returns its folder, with the tables of processes and links if they are needed."""
        if self._core is not None and (self._folder is None or (processes and not Path(self._folder.name, "processes.csv").exists())):
            self._folder = Folder()
            self._core.save(self._folder.name, processes, True)
        assert self._folder is not None
        return Path(self._folder.name)

    def _again(self, processes: bool = False) -> Run:
        """Repeats the run from its settings."""
        if self._repeated is None or processes:
            from ._experiment import Experiment

            repeated = Experiment(self.settings if self._text else self._path()).run(processes=processes, progress=False)
            hashes = [{name: one.event_hash for name, one in run.scenarios.items()} for run in (self, repeated)]
            if hashes[0] != hashes[1]:
                raise RuntimeError("the run has other results here: a file that it reads, or the version, has changed")
            self._repeated = repeated
        return self._repeated

    @property
    def makespan(self) -> float:
        """The execution time of the last scenario [s], which is iii if it was run."""
        return list(self.scenarios.values())[-1].makespan

    @property
    def settings(self) -> dict[str, Any]:
        """All settings: an experiment file as a dict."""
        return dict(self._manifest["experiment"])

    @property
    def summary(self) -> dict[str, Any]:
        """The summary of the manifest."""
        return dict(self._manifest["summary"])

    @property
    def static_starts(self) -> dict[str, float]:
        """The makespan of scenario i with each built-in mapping [s]; empty on the platforms of the papers."""
        return {one["rule"]: one["makespan_s"] for one in self.summary.get("static_starts", [])}

    @property
    def best_static_start(self) -> dict[str, Any] | None:
        """The best static start: `rule`, `makespan_s`, `own` (the start of this run), `gain_percent` of scenario iii over it."""
        best: dict[str, Any] | None = self.summary.get("best_static_start")
        return best

    @property
    def ledger(self) -> dict[str, float] | None:
        """The difference of the last scenario from scenario i, split into terms [s]; the last entry is the sum."""
        return list(self.scenarios.values())[-1].ledger

    @property
    def supersteps(self) -> Table:
        """A row per scenario and superstep: its start, the end of its computation, and its end [s]."""
        return self._table("supersteps")

    @property
    def calls(self) -> Table:
        """A row per rescheduling call: time, price, candidates, migrations, gains [s]."""
        return self._table("calls")

    @property
    def migrations(self) -> Table:
        """A row per migration that happened."""
        return self._table("migrations")

    @property
    def processes(self) -> Table:
        """A row per scenario, superstep and process: its host, its computation and its messages."""
        return self._table("processes")

    @property
    def links(self) -> Table:
        """The traffic of each link in groups of supersteps."""
        return self._table("links")

    @property
    def critical_path(self) -> Table:
        """A row per piece of the critical path of the last scenario, in the order of time: kind, resource, process, begin and end [s].

        The scenario is repeated by events to record it.
        """
        return self._table("critical_path")

    @property
    def records(self) -> list[dict[str, Any]]:
        """The decision record of each call, with candidates, reasons and the state of the policy."""
        return [json.loads(line) for line in self._file("calls.jsonl").splitlines()]

    def _file(self, name: str) -> bytes:
        """Returns the content of a file of its folder."""
        return self._path().joinpath(name).read_bytes() if self._core is None else self._core.file(name)

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            if name == "calls":
                table = _calls(self.records)
            elif self._core is None and not self._path().joinpath(f"{name}.csv").exists():
                table = self._again(processes=name == "processes")._table(name)
            elif self._core is not None and name in ("processes", "critical_path"):
                table = Table(self._core.processes() if name == "processes" else self._core.critical_path(), name)
            else:
                table = Table(_core.read_csv(self._file(f"{name}.csv"), name), name)
            self._tables[name] = table
        return self._tables[name]

    def explain(
        self, superstep: int | None = None, process: int | None = None, *, why_not: bool = False, scenario: str | None = None
    ) -> str:
        """Explains the reason and the decision of a call; without a superstep, gives an overview of all calls.

        >>> import migsim
        >>> run = migsim.run(app="lu", n=1000, procs=25)
        >>> "superstep 11" in run.explain(11)
        True

        Parameters
        ----------
        superstep
            The superstep before the call, counted from 1.
        process
            The process in question, counted from 1.
        why_not
            Explain why the process did not move.
        scenario
            `ii` or `iii`; by default iii, if it was run.
        """
        for name, number in (("superstep", superstep), ("process", process)):
            if number is not None and number < 1:
                raise ValueError(f"there is no {name} {number}: they are counted from 1")
        typed = ["explain", fspath(self._path())]
        for flag, value in (("--superstep", superstep), ("--why-not" if why_not else "--process", process), ("--scenario", scenario)):
            typed += [] if value is None else [flag, str(value)]
        return call(typed, known=self._plugins).text

    def report(self, file: str | PathLike[str]) -> None:
        """Writes the report as a self-contained HTML page."""
        if self._core is None:
            call(["report", fspath(self._path()), "--out", fspath(Path(file).absolute())])
        else:
            Path(file).write_text(self._core.report(), encoding="utf-8")

    def save(self, folder: str | PathLike[str], *, processes: bool = False, force: bool = False) -> None:
        """Writes the folder that `migsim run --out` writes.

        Parameters
        ----------
        folder
            The folder; a run with other settings in it is kept unless `force` is given.
        processes
            Also write `processes.csv` and `links.csv`.
        force
            Replace a run with other settings.
        """
        (self._core or self._again()).save(folder, processes=processes, force=force)

    def __str__(self) -> str:
        if self._core is not None:
            return self._core.text
        names = ["scenario", "makespan_s", "scheduling_s", "migration_s", "moved", "gain_percent", "overhead_percent"]
        return self._text or repr(Table._of_dicts("scenarios", names, self.summary["scenarios"]))

    def __repr__(self) -> str:
        times = ", ".join(f"{one.name} {one.makespan:.6g} s" for one in self.scenarios.values())
        return f"<migsim.Run {times}>"

    def _repr_html_(self) -> str:
        longest = max((one.makespan for one in self.scenarios.values()), default=0.0) or 1.0
        rows = []
        for one in self.scenarios.values():
            percents = (("gain", one.gain_percent), ("overhead", one.overhead_percent))
            told = "".join(f"{word} {percent:.2f} %" for word, percent in percents if percent is not None)
            bar = f"<svg width='160' height='12'><rect width='{160 * one.makespan / longest:.1f}' height='12' fill='#4477aa'/></svg>"
            cells = [one.name, bar, f"{one.makespan:.6g} s", told, f"{one.calls} calls", f"{one.moved} moves"]
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _calls(records: list[dict[str, Any]]) -> Table:
    # Names of columns, and the names in older folders.
    renamed = {"t1_minus_t2_sum_s": "predicted_gain_s", "gain_on_i_until_next_call_s": "realised_gain_s"}
    names = ["scenario", "superstep", "start_s", "cost_s", "migration_s", "candidates", "migrations", *renamed]
    for record in records:
        record |= {name: len(record[name]) for name in ("candidates", "migrations")}
        record |= {name: record.get(name, record.get(older)) for name, older in renamed.items()}
    return Table._of_dicts("calls", names, records)


def _unpickled(manifest: dict[str, Any], files: Mapping[str, bytes], notes: list[str], text: str) -> Run:
    """Creates a run from its files, which stay on the disk as long as the object exists."""
    folder = Folder()
    for name, content in files.items():
        Path(folder.name, name).write_bytes(zlib.decompress(content))
    return Run(manifest, folder=folder, notes=notes, text=text)


def load(folder: str | PathLike[str]) -> Run:
    """Reads the folder of a run.

    Raises
    ------
    migsim.Error
        The folder is no run, was written by another version, or is damaged.
    """
    path = Path(folder).absolute()
    # The command reads and checks the whole folder.
    call(["explain", fspath(path), "--json"])
    manifest = json.loads((path / "run.json").read_text(encoding="utf-8"))
    return Run(manifest, folder=Folder(path))
