"""Runs: the same times as the command, tables, errors, folders."""

from __future__ import annotations

import csv
import json
import math
import multiprocessing
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import migsim

ROOT = Path(__file__).parents[2]
GOLDEN: dict[str, dict[str, str]] = {}
for row in csv.DictReader((ROOT / "tests/data/golden.csv").open()):
    GOLDEN.setdefault(row["run"], {})[row["scenario"]] = row["event_hash"]
LU: dict[str, migsim.Value] = {"platform": "ufrgs", "app": "lu", "n": 100, "procs": 25}
#: A small application with unequal work, in which each strategy moves processes.
WORK: dict[str, migsim.Value] = {"platform": "ufrgs", "app": "synthetic", "procs": 20, "workload.supersteps": 30, "workload.spread": 0.5}
#: The golden runs by name, as in `tests/determinism.rs`; all others are `WORK` with the policy of that name.
RUNS: dict[str, dict[str, migsim.Value]] = {
    "lu": {"app": "lu", "n": 1000, "procs": 25},
    "sw": {"app": "sw", "n": 25},
    "lbm": {"app": "lbm", "workload.supersteps": 50},
    "synthetic": {
        **WORK,
        "load": [
            {"kind": "walk", "values": "reserved"},
            {"kind": "ar", "on": "links", "mean": 0.2},
            {"kind": "on-off", "values": "reserved"},
            {"kind": "daily", "values": "reserved"},
        ],
    },
    "trace": {
        "platform": "tests/oracle/rnd-migrations/platform.xml",
        "app": "trace",
        "trace": "tests/oracle/rnd-migrations/trace.txt",
        "policy": "never",
    },
    "vt": {"platform": "ufrgs", "app": "vt", "data": "tests/data/vt/lu"},
    "table": {
        "platform": "ufrgs",
        "app": "table",
        "work": "tests/data/table/work.csv",
        "messages": "tests/data/table/messages.csv",
    },
    "never": {**LU, "policy": "never"},
    "migbsp-2007": {**LU, "n": 200, "policy": "migbsp-2007"},
    "brute-force": {
        "platform": "lbm",
        "app": "synthetic",
        "procs": 2,
        "workload.supersteps": 40,
        "workload.spread": 0.5,
        "policy": "brute-force",
    },
    "replay": {
        **LU,
        "policy": "replay",
        "policy.replay.decisions": [{"superstep": 5, "process": 3, "to": "Aquario"}],
    },
}


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("name", GOLDEN)
def test_event_hashes_are_the_golden_ones(name: str) -> None:
    run = migsim.run("sw-dynamic", n=25) if name == "sw-dynamic" else migsim.run(**RUNS.get(name, {**WORK, "policy": name}))
    assert {scenario: one.event_hash for scenario, one in run.scenarios.items()} == GOLDEN[name]


def test_a_process_that_was_forked_has_threads_of_its_own() -> None:
    migsim.run(app="sw", n=10)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        spans = pool.map_async(_makespan, [1, 2]).get(timeout=60)
    assert spans == [_makespan(1), _makespan(2)]


def _makespan(seed: int) -> float:
    return migsim.run(app="sw", n=10, load="walk", seed=seed).makespan


def test_settings_are_those_of_a_dict_with_keywords_on_top() -> None:
    experiment = migsim.Experiment({"workload": {"app": "sw", "n": 10}, "seed": 7}, n=12)
    assert experiment.settings["workload"]["n"] == 12 and experiment.settings["seed"] == 7
    again = migsim.Experiment(experiment.settings)
    assert again.settings == experiment.settings


def test_errors_have_words_place_and_hint() -> None:
    with pytest.raises(migsim.Error) as caught:
        migsim.run(app="lu", n=-5, procs=4)
    assert "--n" in str(caught.value)
    with pytest.raises(migsim.Error) as caught:
        migsim.run(app="lu", n=10, procs=4, **{"policy.migbsp.detla": 1})
    problem = caught.value.problems[0]
    assert "detla" in problem.message and problem.hint is not None
    with pytest.raises(TypeError, match="did you mean `platform`"):
        migsim.run(app="lu", platfrom="ufrgs")
    with pytest.raises(TypeError, match="no value of a setting"):
        migsim.run(app="lu", n=object())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "keywords, words",
    [
        ({"polcy": None}, "`polcy` is None"),
        ({"policy.migbsp.xx": None}, "`policy.migbsp.xx` is None"),
        ({"policy": False}, "a value is expected"),
        ({"seed": True}, "a value is expected"),
        ({"no_static_starts": 1}, "True or False is expected"),
        ({"load": {"step": 0.1}}, "no value of a setting"),
    ],
)
def test_a_keyword_that_says_nothing_clear_is_refused(keywords: dict[str, migsim.Value], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        migsim.run("sw", **keywords)  # type: ignore[arg-type]


def test_the_keywords_are_flags_of_the_command() -> None:
    from migsim import _core, _keywords

    for command in ["run", "sweep", "tune", "advise", "compare", "bottlenecks", "bench"]:
        _, text, _ = _core.command(["migsim", command, "--help" if command == "bench" else "--help-all"])
        known = getattr(_keywords, f"{command.capitalize()}Keywords").__annotations__
        assert all(f"--{name.replace('_', '-')}" in text for name in known), command
        function = getattr(migsim, command)
        assert all(f"`{name}`" in function.__doc__ for name in known)


def test_an_experiment_or_a_dict_stands_for_keywords_everywhere() -> None:
    experiment = migsim.Experiment(app="sw", n=np.int64(10))
    for given in (experiment, {"workload": {"app": "sw", "n": np.int64(10)}}):
        makespan = migsim.run(given, no_static_starts=np.True_).makespan
        assert migsim.sweep(given).rows["makespan_iii_s"].tolist() == [makespan]
        assert migsim.bottlenecks(given).makespan == makespan
        assert makespan in migsim.compare(given, policies="migbsp").ranking["makespan_s"]


def test_tables_of_a_run_are_those_of_its_folder(tmp_path: Path) -> None:
    run = migsim.run(app="lu", n=300, procs=25, processes=True)
    run.save(tmp_path / "run", processes=True)
    loaded = migsim.load(tmp_path / "run")
    assert repr(loaded) == repr(run) and loaded.settings == run.settings
    assert loaded.records == run.records
    for name in ["supersteps", "calls", "migrations", "processes", "links"]:
        here, there = getattr(run, name), getattr(loaded, name)
        assert here.columns == there.columns and len(here) == len(there), name
        assert repr(list(here.rows())) == repr(list(there.rows())), name
    for superstep in (None, run.records[0]["superstep"]):
        assert run.explain(superstep).strip() == loaded.explain(superstep).strip()
    run.report(tmp_path / "here.html")
    loaded.report(tmp_path / "there.html")
    assert (tmp_path / "here.html").read_bytes() == (tmp_path / "there.html").read_bytes()


def test_a_folder_that_is_damaged_is_refused(tmp_path: Path) -> None:
    migsim.run(app="sw", n=10).save(tmp_path / "run")
    text = (tmp_path / "run/supersteps.csv").read_text().splitlines()
    (tmp_path / "run/supersteps.csv").write_text("\n".join(text[:-3]) + "\n")
    with pytest.raises(migsim.Error):
        migsim.load(tmp_path / "run")
    with pytest.raises(migsim.Error):
        migsim.load(tmp_path / "nothing")


SMALL: dict[str, migsim.Value] = {"app": "sw", "n": 15, "load": "walk", "seed": 4}


def _run(seed: int) -> migsim.Run:
    return migsim.run(**{**SMALL, "seed": seed}, processes=seed == 4)


def _without_cpu_time(run: migsim.Run) -> list[str]:
    return [line for line in str(run).splitlines() if not line.endswith("of CPU time")]


def test_a_run_can_be_pickled_and_returned_by_a_worker(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.map(_run, [4, 5])
    for seed, copy in zip([4, 5], there, strict=True):
        run = _run(seed)
        assert copy.summary["scenarios"] == run.summary["scenarios"] and copy.settings == run.settings
        assert copy.makespan == run.makespan and copy.records == run.records
        for name in ["supersteps", "calls", "migrations", "processes", "links"]:
            here, other = getattr(run, name), getattr(copy, name)
            assert here.columns == other.columns and len(here) == len(other), name
            assert repr(list(here.rows())) == repr(list(other.rows())), name
        assert copy.explain().strip() == run.explain().strip()
        assert _without_cpu_time(copy) == _without_cpu_time(run)
        twice = pickle.loads(pickle.dumps(copy))
        assert twice.records == run.records and str(twice) == str(copy)
        copy.report(tmp_path / f"{seed}.html")
        copy.save(tmp_path / f"saved-{seed}")
        assert migsim.load(tmp_path / f"saved-{seed}").records == run.records


def test_an_experiment_can_be_pickled(tmp_path: Path) -> None:
    experiment = migsim.Experiment(**SMALL)
    copy = pickle.loads(pickle.dumps(experiment))
    assert copy.settings == experiment.settings and copy.notes == experiment.notes
    hashes = [[one.event_hash for one in which.run().scenarios.values()] for which in (experiment, copy)]
    assert hashes[0] == hashes[1]
    platform = migsim.PlatformBuilder("lab").cluster(
        "old", hosts=8, speed="1.5 GHz", bandwidth="100 Mbps", latency="50 us"
    ).build()
    on_own = pickle.loads(pickle.dumps(migsim.Experiment({"workload": {"app": "sw", "n": 8}}, platform=platform)))
    assert on_own.run().makespan == migsim.run(app="sw", n=8, platform=platform).makespan
    # A run that was read from a folder can be pickled as well.
    experiment.run().save(tmp_path / "run")
    loaded = pickle.loads(pickle.dumps(migsim.load(tmp_path / "run")))
    assert loaded.records == experiment.run().records


def test_printed_text_has_no_colours() -> None:
    run = migsim.run(app="lu", n=1000, procs=25)
    for text in (str(run), f"{run}", run.explain(), run.explain(11)):
        assert "\x1b" not in text and text.strip()
    assert "scenario" in str(run)
    command = [sys.executable, "-m", "migsim", "run", "--app", "sw", "--n", "10"]
    assert "\x1b" not in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_table_is_printed_with_its_first_rows() -> None:
    lines = repr(migsim.run(app="sw", n=10).supersteps).splitlines()
    assert lines[0].split() == ["scenario", "superstep", "start_s", "end_s", "computed_s"]
    assert lines[1].split()[:3] == ["i", "1", "0"] and lines[11] == "and 47 more rows" and len(lines) == 12


def test_other_libraries_read_every_table_with_its_units() -> None:
    run = migsim.run(app="lu", n=1000, procs=25, processes=True)
    pyarrow = pytest.importorskip("pyarrow")
    for name in ["supersteps", "calls", "migrations", "processes", "links"]:
        table = getattr(run, name)
        arrow = pyarrow.table(table)
        assert arrow.column_names == table.columns and arrow.num_rows == len(table)
        units = {field.name: field.metadata[b"unit"].decode() for field in arrow.schema if field.metadata}
        assert units == table.units and units
        polars = pytest.importorskip("polars").DataFrame(table)
        assert polars.shape == (len(table), len(table.columns))
        pytest.importorskip("pandas")
        frame = table.to_pandas()
        assert frame.shape == polars.shape and frame.attrs["units"] == units
        first = next(iter(table.rows(1)), None)
        if first is not None:
            assert {key: str(value) for key, value in frame.iloc[0].items()} == {
                key: str(value) for key, value in first.items()
            }


@pytest.mark.parametrize("policy", ["never", "migbsp", "refine"])
def test_the_types_of_a_table_depend_on_no_values(policy: str, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    names = ["supersteps", "calls", "migrations", "processes", "links"]
    greedy = migsim.run(**WORK, policy="greedy")
    expected = {name: getattr(greedy, name).to_arrow().schema for name in names}
    run = migsim.run(**WORK, policy=policy)
    run.save(tmp_path / "run", processes=True)
    for route in (run, migsim.load(tmp_path / "run"), pickle.loads(pickle.dumps(run))):
        for name in names:
            table = getattr(route, name)
            assert table.to_arrow().schema.equals(expected[name], check_metadata=True), name
            copy = pickle.loads(pickle.dumps(table))
            assert copy.to_arrow().schema.equals(expected[name], check_metadata=True)
            assert list(copy.to_pandas().dtypes) == list(getattr(greedy, name).to_pandas().dtypes)
            assert copy.to_polars().schema == getattr(greedy, name).to_polars().schema
    with pytest.raises(TypeError, match="to_pandas"):
        np.asarray(run.calls)


def test_columns_are_arrays() -> None:
    table = migsim.run(app="sw", n=10).supersteps
    assert table["start_s"].dtype == np.float64 and table["superstep"].dtype == np.int64
    assert set(table["scenario"]) == {"i", "ii", "iii"}
    assert math.isclose(max(table["end_s"]), migsim.run(app="sw", n=10).scenarios["ii"].makespan, rel_tol=0.5)
    with pytest.raises(KeyError, match="known columns"):
        table["stat_s"]


def test_a_platform_may_be_a_dict() -> None:
    platform = {
        "schema": "migsim-platform-1",
        "name": "two",
        "clusters": [
            {"name": "c", "hosts": 2, "speed": "1 GHz", "link": {"bandwidth": "1 Gbps", "latency": "1 us"}}
        ],
    }
    run = migsim.run(app="sw", n=4, platform=platform, scenario="i")
    assert list(run.scenarios) == ["i"] and run.makespan > 0
    assert run.static_starts["fast-first"] == run.makespan and len(run.static_starts) == 5
    assert run.best_static_start is not None
    assert run.best_static_start["makespan_s"] == min(run.static_starts.values())
    without = migsim.run(app="sw", n=4, platform=platform, scenario="i", no_static_starts=True)
    assert without.static_starts == {} and without.best_static_start is None
    assert without.makespan == run.makespan


def test_ctrl_c_stops_a_run() -> None:
    # A program that is started in the background has no handler.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        migsim.run(app="lu", n=200_000, procs=50, policy="never")
    assert time.monotonic() - start < 5


def test_the_command_is_in_the_package() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "migsim", "run", "--app", "sw", "--n", "10", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    summary = json.loads(said.stdout)
    assert summary["scenarios"][2]["makespan_s"] == migsim.run(app="sw", n=10).makespan
    wrong = subprocess.run([sys.executable, "-m", "migsim", "rnu"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "did you mean `run`" in wrong.stderr
