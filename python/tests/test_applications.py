"""Applications in Python: a copy of a built-in one has the same events; exceptions, options, invalid plans."""

from __future__ import annotations

import pickle
import traceback
from pathlib import Path

import numpy as np
import pytest

import migsim

SLICES, WORK, BYTES = 12, 3e8, 40_000


@migsim.application("slices", "the built-in lbm, rewritten")
class Slices(migsim.Application):
    def __init__(self, procs: int = SLICES, supersteps: int = 40, work: float = WORK, bytes: float = BYTES) -> None:
        self.processes, self.supersteps, self.instructions, self.bytes = procs, supersteps, work, bytes
        self.memory_bytes = 1.5e6

    def fill(self, superstep: int, plan: migsim.Plan) -> None:
        plan.work[:] = self.instructions
        plan.send(range(self.processes - 1), range(1, self.processes), self.bytes)


def table(folder: Path) -> dict[str, migsim.Value]:
    """Writes the same application as CSV tables."""
    work, messages = folder / "work.csv", folder / "messages.csv"
    lines = [f"{step},{process},{WORK},1500000" for step in range(1, 41) for process in range(1, SLICES + 1)]
    work.write_text("superstep,process,work [instr],memory [B]\n" + "\n".join(lines) + "\n")
    lines = [f"{step},{process},{process + 1},{BYTES}" for step in range(1, 41) for process in range(1, SLICES)]
    messages.write_text("superstep,from,to,bytes\n" + "\n".join(lines) + "\n")
    return {"app": "table", "work": work, "messages": messages}


@pytest.mark.parametrize("policy", ["migbsp", "greedy-refine/every=7"])
def test_a_copy_has_the_events_of_the_tables(policy: str, tmp_path: Path) -> None:
    keywords: dict[str, migsim.Value] = {"platform": "ufrgs", "load": "walk", "policy": policy, "seed": 5}
    own = migsim.run(app="slices", **keywords)
    other = migsim.run(**table(tmp_path), **keywords)
    hashes = [[one.event_hash for one in run.scenarios.values()] for run in (own, other)]
    assert hashes[0] == hashes[1] and len(own.calls) > 0
    assert "slices" in migsim.applications()


def test_options_sweeps_searches_and_explanations_know_it() -> None:
    small = {"workload.supersteps": 20}
    rows = migsim.sweep(app="slices", procs=[4, 8], scenario="i", **{**small, "workload.work": [1e8, 2e8]}).rows
    assert len(rows) == 4
    result = migsim.compare(app="slices", procs=8, policies=["migbsp", "never"], **small)
    assert result.verdict
    assert "migbsp" in migsim.run(app="slices", procs=8, **small).explain()
    with pytest.raises(migsim.Error, match="unknown key `wrok`"):
        migsim.run(app="slices", **{"workload.wrok": 3})


@migsim.application("drawn", "work from a seed")
class Drawn(migsim.Application):
    def __init__(self, procs: int = 6, seed: int = 1) -> None:
        self.processes, self.supersteps = procs, 10

    def fill(self, superstep: int, plan: migsim.Plan) -> None:
        plan.work = plan.random.uniform(1e8, 2e8, self.processes)
        plan.send(0, plan.random.integers(1, self.processes, 3), [10, 20, 30])


def test_what_is_drawn_follows_the_seed() -> None:
    def hashes(seed: int) -> list[str]:
        run = migsim.run(app="drawn", policy="never", **{"workload.seed": seed})
        return [one.event_hash for one in run.scenarios.values()]

    assert hashes(1) == hashes(1) != hashes(2)
    rows = migsim.sweep(app="drawn", policy="never", scenario="i", seeds=3).rows
    assert len(set(rows["makespan_i_s"])) == 3


def test_the_seed_of_a_run_is_that_of_its_application_unless_it_has_its_own() -> None:
    def makespan(**keywords: migsim.Value) -> float:
        return migsim.run(app="drawn", policy="never", scenario="i", **keywords).makespan

    rows = migsim.sweep(app="drawn", policy="never", scenario="i", seeds=3).rows
    single = [makespan(seed=seed) for seed in (1, 2, 3)]
    assert single == rows["makespan_i_s"].tolist() and len(set(single)) == 3
    assert makespan() == single[0]
    own: dict[str, migsim.Value] = {"workload.seed": 3}
    assert [makespan(seed=seed, **own) for seed in (1, 2)] == [single[2]] * 2
    built_in = [migsim.run(app="synthetic", scenario="i", seed=seed, **{"workload.spread": 0.5}).makespan for seed in (1, 2)]
    assert built_in[0] != built_in[1]


@migsim.application("counts", "asserts from where it counts")
class Counts(migsim.Application):
    seen: set[int] = set()

    def __init__(self) -> None:
        self.processes, self.supersteps = 2, 5

    def fill(self, superstep: int, plan: migsim.Plan) -> None:
        Counts.seen.add(superstep)
        plan.work[superstep % 2] = 1e9


def test_supersteps_and_processes_count_from_0_in_plans_and_from_1_in_tables() -> None:
    run = migsim.run(app="counts", policy="never", scenario="i", processes=True)
    assert Counts.seen == set(range(5)) and run.supersteps["superstep"].tolist() == [1, 2, 3, 4, 5]
    works = [row for row in run.processes.rows() if row["instructions"] > 0]
    assert [(row["superstep"], row["process"]) for row in works] == [(1, 1), (2, 2), (3, 1), (4, 2), (5, 1)]


@migsim.application("wrong", "fails in superstep 3, counted from 0")
class Wrong(migsim.Application):
    def __init__(self, how: str = "raises", processes: int = 3, memory: float = 0.0) -> None:
        self.processes, self.supersteps, self.how, self.memory_bytes = processes, 8, how, memory

    def fill(self, superstep: int, plan: migsim.Plan) -> None:
        plan.work[:] = 1e9
        if superstep < 3:
            return
        match self.how:
            case "raises":
                raise LookupError("nothing there")
            case "work":
                plan.work[1] = np.nan
            case "receiver":
                plan.send(0, 3, 10)
            case "negative":
                plan.send([0, 1], [1, -1], 10)
            case "size":
                plan.send(0, 1, -5.0)
            case "fraction":
                plan.send([0.5], [1], 10)
            case "shape":
                plan.send([0, 1, 2], [1, 2], 10)


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        ("raises", LookupError, "nothing there"),
        ("work", ValueError, "the work of process 1 is NaN"),
        ("receiver", IndexError, "there is no process 3: there are 3"),
        ("negative", IndexError, "there is no process -1"),
        ("size", ValueError, "the size of a message is -5"),
        ("fraction", TypeError, "whole numbers"),
        ("shape", ValueError, "cannot be broadcast"),
    ],
)
def test_a_wrong_plan_stops_the_run_with_its_superstep(how: str, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        migsim.run(app="wrong", **{"workload.how": how})
    assert "in fill at superstep 3, counted from 0" in "".join(traceback.format_exception(caught.value))
    assert migsim.run(app="wrong", **{"workload.how": "not"}).makespan > 0


def test_a_sweep_keeps_no_row_of_a_run_that_failed(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="1 of 2 runs failed"):
        result = migsim.sweep(app="wrong", scenario="i", out=tmp_path / "sweep", **{"workload.how": ["not", "raises"]})
    assert [row["workload.how"] for row in result.failed] == ["raises"]
    rows = (tmp_path / "sweep" / "runs.csv").read_text().splitlines()
    (failed,) = [row for row in rows if ",raises," in row]
    assert "the application raised nothing there" in failed


@pytest.mark.parametrize(
    ("options", "words"),
    [({"processes": 0}, "`processes` is 0; at least 1"), ({"memory": -1.0}, "`memory_bytes` is -1")],
)
def test_a_constructor_that_promises_the_impossible_is_refused(options: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        migsim.run(app="wrong", **{f"workload.{key}": value for key, value in options.items()})


def test_a_class_without_its_attributes_is_refused() -> None:
    @migsim.application("empty")
    class Empty(migsim.Application): ...

    with pytest.raises(AttributeError, match="no attribute `processes`"):
        migsim.run(app="empty")


def test_parts_of_a_sweep_travel() -> None:
    sweep = migsim.Sweep(app="slices", procs=4, scenario="i", **{"workload.supersteps": [5, 6]})
    assert pickle.loads(pickle.dumps(sweep.shards(2)))
