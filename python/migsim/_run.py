"""Runs that were simulated, or were read from their folders."""

from __future__ import annotations

import html
import json
import tempfile
import zlib
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from . import _core
from ._arguments import Temporary
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


#: The files of a run's folder that a pickled run carries.
_FILES = ["run.json", "supersteps.csv", "calls.jsonl", "migrations.csv", "platform.json", "processes.csv", "links.csv"]


class Run:
    """A run: its scenarios, tables, explanations, report.

    >>> import migsim
    >>> run = migsim.run(app="lu", n=500, procs=25)
    >>> run.scenarios["iii"].moved
    0
    >>> len(run.processes)
    75075

    It can be pickled, with its tables and explanations. A copy in another process repeats the run only for `processes` and
    `links` that were not recorded, and for `save`.
    """

    def __init__(self, manifest: dict[str, Any], core: _core.Run | None, folder: Path | None) -> None:
        self._manifest = manifest
        self._core = core
        self._folder = folder
        self._has_processes = False
        #: For a pickled run: the text of its table, its temporary files, and the repeated run.
        self._text: str | None = None
        self._files: Temporary | None = None
        self._repeated: Run | None = None
        found = [Scenario(one) for one in manifest["summary"]["scenarios"]]
        self._tables: dict[str, Table] = {}
        #: Notes on how the settings were read.
        self.notes: list[str] = []
        #: The scenarios by name.
        self.scenarios: dict[str, Scenario] = {one.name: one for one in found}

    @classmethod
    def _of(cls, core: _core.Run, has_processes: bool) -> Run:
        run = cls(json.loads(core.manifest), core, None)
        run._has_processes = has_processes
        return run

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickled, (self._manifest, str(self), self._packed(), self.notes))

    def _packed(self) -> dict[str, bytes]:
        """Returns the files of its folder by name."""
        if self._core is None:
            return _compressed(self._path)
        with tempfile.TemporaryDirectory(prefix="migsim-") as folder:
            self._core.save(folder, self._has_processes, True)
            return _compressed(Path(folder))

    def _again(self, processes: bool = False) -> Run:
        """Repeats the run from its settings."""
        if self._repeated is None or (processes and not self._repeated._has_processes):
            from ._experiment import Experiment

            repeated = Experiment(self.settings).run(processes=processes, progress=False)
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
        settings: dict[str, Any] = self._manifest["experiment"]
        return settings

    @property
    def summary(self) -> dict[str, Any]:
        """The summary of the manifest."""
        summary: dict[str, Any] = self._manifest["summary"]
        return summary

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
        return self._table("critical_path") if self._core is not None else self._again()._table("critical_path")

    @property
    def records(self) -> list[dict[str, Any]]:
        """The decision record of each call, with candidates, reasons and the state of the policy."""
        if self._core is not None:
            return [json.loads(line) for line in self._core.records]
        text = (self._path / "calls.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def _table(self, name: str) -> Table:
        if self._core is not None:
            if name not in self._tables:
                self._tables[name] = Table(self._core.table(name), name)
            return self._tables[name]
        if name == "calls":
            return _calls(self.records)
        file = self._path / f"{name}.csv"
        if not file.exists() and self._files is not None:
            return self._again(processes=name == "processes")._table(name)
        if not file.exists():
            raise FileNotFoundError(f"{file}: the run was saved without it; save it with `processes=True`")
        return Table.read_csv(file)

    @property
    def _path(self) -> Path:
        if self._folder is None:
            raise RuntimeError("a run that was done has no folder")
        return self._folder

    def explain(
        self,
        superstep: int | None = None,
        process: int | None = None,
        *,
        why_not: bool = False,
        scenario: str | None = None,
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
        if self._core is not None:
            return self._core.explain(superstep, process, why_not, scenario)
        typed = ["explain", fspath(self._path)]
        typed += [] if superstep is None else ["--superstep", str(superstep)]
        flag = "--why-not" if why_not else "--process"
        typed += [] if process is None else [flag, str(process)]
        typed += [] if scenario is None else ["--scenario", scenario]
        return call(typed)

    def report(self, file: str | PathLike[str]) -> None:
        """Writes the report as a self-contained HTML page."""
        if self._core is not None:
            Path(file).write_text(self._core.report(), encoding="utf-8")
        else:
            call(["report", fspath(self._path)])
            Path(file).write_bytes((self._path / "report.html").read_bytes())

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
        if self._files is not None:
            self._again().save(folder, processes=processes, force=force)
            return
        if self._core is None:
            raise ValueError(f"the run is saved already: {self._folder}")
        self._core.save(folder, processes, force)

    def __str__(self) -> str:
        if self._core is not None:
            return self._core.text
        return repr(self) if self._text is None else self._text

    def __repr__(self) -> str:
        times = ", ".join(f"{one.name} {one.makespan:.6g} s" for one in self.scenarios.values())
        return f"<migsim.Run {times}>"

    def _repr_html_(self) -> str:
        longest = max((one.makespan for one in self.scenarios.values()), default=0.0) or 1.0
        rows = []
        for one in self.scenarios.values():
            gain = one.gain_percent if one.gain_percent is not None else one.overhead_percent
            words = "gain" if one.gain_percent is not None else "overhead"
            told = "" if gain is None else f"{words} {gain:.2f} %"
            bar = f"<svg width='160' height='12'><rect width='{160 * one.makespan / longest:.1f}' height='12' fill='#4477aa'/></svg>"
            cells = [one.name, bar, f"{one.makespan:.6g} s", told, f"{one.calls} calls", f"{one.moved} moves"]
            escaped = [cell if cell is bar else html.escape(cell) for cell in cells]
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in escaped) + "</tr>")
        return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _calls(records: list[dict[str, Any]]) -> Table:
    names = ["scenario", "superstep", "start_s", "cost_s", "migration_s", "candidates", "migrations"]
    # Names of columns, and the names in older folders.
    renamed = {"t1_minus_t2_sum_s": "predicted_gain_s", "gain_on_i_until_next_call_s": "realised_gain_s"}
    names += list(renamed)

    def counted(record: dict[str, Any]) -> dict[str, Any]:
        lists = {name: len(record[name]) for name in ("candidates", "migrations")}
        return {**{name: record.get(older) for name, older in renamed.items()}, **record, **lists}

    return Table._of_rows("calls", names, ([row[name] for name in names] for row in map(counted, records)))


def _compressed(folder: Path) -> dict[str, bytes]:
    files = (folder / name for name in _FILES)
    return {file.name: zlib.compress(file.read_bytes(), 1) for file in files if file.exists()}


def _unpickled(manifest: dict[str, Any], text: str, files: Mapping[str, bytes], notes: list[str]) -> Run:
    """Creates a run from its files, which stay on the disk as long as the object exists."""
    folder = Temporary()
    for name, content in files.items():
        (Path(folder.name) / name).write_bytes(zlib.decompress(content))
    run = Run(manifest, None, Path(folder.name))
    run._text, run._files, run._has_processes, run.notes = text, folder, "processes.csv" in files, notes
    return run


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
    return Run(manifest, None, path)
