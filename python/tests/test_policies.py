"""Policies in Python: a copy of a built-in one makes the same decisions; exceptions, options, generators."""

from __future__ import annotations

import traceback
from pathlib import Path

import numpy as np
import pytest

import migsim


@migsim.policy("greedy-copy", "the built-in greedy, rewritten")
class GreedyCopy(migsim.Policy):
    """Assigns processes in decreasing order of work, each to the host that ends first (hosts of one core without limits of memory)."""

    uses_seed = False

    def __init__(self, every: int = 10) -> None:
        self.every, self.count, self.work = every, 0, np.zeros(0)

    def is_call_due(self, view: migsim.View) -> bool:
        self.count += 1
        self.work = (self.work if self.work.size else 0.0) + view.work
        return (view.superstep + 1) % self.every == 0

    def decide(self, view: migsim.View) -> np.ndarray:
        mean = self.work / self.count
        self.work, self.count = np.zeros(0), 0
        left = np.maximum(1.0 - view.external_load, 1e-9)
        nominal = view.platform["speed"]
        speeds = nominal * left / nominal[0]
        here = view.placement
        works = mean * view.cycles_per_instruction / (nominal[here] * left[here]) * speeds[here]
        loads, placement = np.zeros(len(speeds)), here.copy()
        for process in np.lexsort((np.arange(len(works)), -works)):
            after = loads + works[process] / speeds
            host = int(after.argmin())
            loads[host] = after[host]
            placement[process] = host
        return placement


def moves(run: migsim.Run) -> list[list[tuple[int, str]]]:
    return [
        [(move["process"], move["to_host"]) for move in sorted(record["migrations"], key=lambda one: one["process"])]
        for record in run.records
    ]


@pytest.mark.parametrize("hundred", range(10))
def test_a_copy_decides_as_the_built_in_policy_in_1000_random_runs(hundred: int) -> None:
    for seed in range(100 * hundred, 100 * hundred + 100):
        check_a_random_run(seed)


def check_a_random_run(seed: int) -> None:
    draw = np.random.default_rng(seed)
    keywords: dict[str, migsim.Value] = {
        "platform": "ufrgs",
        "app": "synthetic",
        "procs": int(draw.integers(2, 40)),
        "workload.supersteps": int(draw.integers(12, 40)),
        "workload.spread": float(draw.uniform(0, 0.9)),
        "workload.seed": seed,
        "seed": seed,
        "scenario": "iii",
    }
    every = int(draw.integers(3, 12))
    own = migsim.run(policy="greedy-copy", **{**keywords, "policy.greedy-copy.every": every})
    built_in = migsim.run(policy=f"greedy/every={every}", **keywords)
    assert moves(own) == moves(built_in) and moves(own), keywords


@migsim.policy("faulty", "raises in a superstep")
class Faulty(migsim.Policy):
    def __init__(self, at: int = 3, inside: str = "decide") -> None:
        self.at, self.inside = at, inside

    def is_call_due(self, view: migsim.View) -> bool:
        if self.inside == "is_call_due" and view.superstep == self.at:
            raise LookupError("nothing there")
        return True

    def decide(self, view: migsim.View) -> object:
        if self.inside == "decide" and view.superstep == self.at:
            raise LookupError("nothing there")
        if self.inside == "answer":
            return {0: 10**6}
        return None


@pytest.mark.parametrize("inside", ["decide", "is_call_due"])
def test_an_exception_stops_the_run_with_its_traceback_and_superstep(inside: str) -> None:
    with pytest.raises(LookupError, match="nothing there") as caught:
        migsim.run(app="sw", n=10, policy="faulty", **{"policy.faulty.inside": inside})
    told = "".join(traceback.format_exception(caught.value))
    assert f"in {inside} at superstep 3, counted from 0" in told and "nothing there" in told
    # The next run is not affected.
    assert migsim.run(app="sw", n=10, policy="faulty", **{"policy.faulty.at": 999}).makespan > 0


def test_an_answer_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot go to host 1000000"):
        migsim.run(app="sw", n=10, policy="faulty", **{"policy.faulty.inside": "answer"})


#: Answers of a policy by their names in the following test.
ANSWERS: dict[str, object] = {
    "negative": {0: -1},
    "hosts alone": [0] * 3,
    "a name": [(2, "Labtec-3")],
    "a fraction": {1: 0.5},
    "no process": {"p1": 0},
    "far": {(1, 2): 3},
    "process": {10: 0},
    "number": 7,
    "short": np.zeros(3, dtype=np.int64),
    "floats": np.zeros(10),
    "negative in an array": np.full(10, -1),
}


@migsim.policy("answers", "answers what it is told to")
class Answers(migsim.Policy):
    def __init__(self, which: str = "negative") -> None:
        self.answer = ANSWERS[which]

    def is_call_due(self, view: migsim.View) -> bool:
        return view.superstep == 4

    def decide(self, view: migsim.View) -> object:
        return self.answer


FORMS = "answer a dict `{process: host}`"


@pytest.mark.parametrize(
    ("which", "kind", "words"),
    [
        ("negative", ValueError, ["process 0 cannot go to host -1", "10 processes and", "counted from 0"]),
        ("hosts alone", TypeError, ["entry 0 of the answer is 0, not a pair of a process and a host", FORMS]),
        ("a name", TypeError, ["process 2 cannot go to host 'Labtec-3'", 'view.platform["hosts"].index(name)']),
        ("a fraction", TypeError, ["process 1 cannot go to host 0.5"]),
        ("no process", TypeError, ["'p1' is not the number of a process", FORMS]),
        ("far", TypeError, ["(1, 2) is not the number of a process"]),
        ("process", ValueError, ["process 10 cannot go to host 0"]),
        ("number", TypeError, ["the answer is 7", FORMS]),
        ("short", ValueError, ["an array of shape (3,), and there are 10 processes", FORMS]),
        ("floats", TypeError, ["an array of float64; hosts are whole numbers"]),
        ("negative in an array", ValueError, ["process 0 cannot go to host -1"]),
    ],
)
def test_a_wrong_answer_names_the_process_and_the_right_form(which: str, kind: type[Exception], words: list[str]) -> None:
    with pytest.raises(kind) as caught:
        migsim.run(app="sw", n=10, policy="answers", **{"policy.answers.which": which})
    for part in words:
        assert part in str(caught.value), caught.value
    assert "in decide at superstep 4, counted from 0" in "".join(traceback.format_exception(caught.value))


@migsim.policy("every-form", "the same move in each form")
class EveryForm(migsim.Policy):
    uses_seed = False

    def __init__(self, form: str = "dict") -> None:
        self.form = form

    def is_call_due(self, view: migsim.View) -> bool:
        return view.superstep == 2

    def decide(self, view: migsim.View) -> object:
        placement = view.placement.astype(np.int32)
        placement[1] = 30
        forms: dict[str, object] = {
            "dict": {1: 30},
            "numbers of NumPy": {np.int64(1): np.int32(30)},
            "pairs": [(1, 30)],
            "generator": ((1, 30) for _ in range(1)),
            "array": placement,
        }
        return forms[self.form]


@pytest.mark.parametrize("form", ["dict", "numbers of NumPy", "pairs", "generator", "array"])
def test_each_form_of_an_answer_is_the_same_move(form: str) -> None:
    run = migsim.run(app="sw", n=10, policy="every-form", **{"policy.every-form.form": form})
    assert run.migrations["process"].tolist() == [2] and run.calls["superstep"].tolist() == [3, 3]


def test_options_are_those_of_the_constructor() -> None:
    with pytest.raises(migsim.Error, match="unknown key `evry`"):
        migsim.run(app="sw", n=10, policy="faulty", **{"policy.faulty.evry": 3})
    with pytest.raises(TypeError, match="needs a default"):

        @migsim.policy("bad")
        class Bad(migsim.Policy):
            def __init__(self, needed: int) -> None: ...

    assert {"faulty", "greedy-copy", "migbsp"} <= set(migsim.policies())


@migsim.policy("random-copy", "a random process to a random host, now and then")
class Random(migsim.Policy):
    def is_call_due(self, view: migsim.View) -> bool:
        return view.superstep % 10 == 0

    def decide(self, view: migsim.View) -> list[tuple[int, int]]:
        random = view.random
        return [(int(random.integers(len(view.placement))), int(random.integers(len(view.external_load))))]


def test_what_is_random_follows_the_seed() -> None:
    def hashes(seed: int) -> list[str]:
        run = migsim.run(app="sw", n=25, policy="random-copy", seed=seed)
        return [one.event_hash for one in run.scenarios.values()]

    assert hashes(1) == hashes(1) and hashes(1) != hashes(2)


def test_views_cannot_be_written() -> None:
    seen: list[migsim.View] = []

    @migsim.policy("looks")
    class Looks(migsim.Policy):
        def decide(self, view: migsim.View) -> None:
            assert len(view.messages) > 0 or view.superstep > 0
            assert view.platform["hosts"][0] and view.platform["clusters"][0]
            seen.append(view)
            with pytest.raises(ValueError, match="read-only"):
                view.compute_s[0] = 1.0

    migsim.run(app="sw", n=10, policy="looks", scenario="iii")
    assert seen


def test_sweeps_comparisons_and_searches_know_them() -> None:
    rows = migsim.sweep(
        app="sw", n=15, load="walk", policy=["greedy-copy", "never"], seeds=2, **{"policy.greedy-copy.every": 5}
    ).rows
    assert len(rows) == 4 and set(rows["policy"]) == {"greedy-copy", "never"}
    result = migsim.compare(app="sw", n=15, policies=["greedy-copy", "migbsp"], seeds=2)
    assert {one["policy"] for one in result.policies} == {"greedy-copy", "migbsp"} and result.verdict
    found = migsim.tune(app="sw", n=15, policy="greedy-copy", budget=8, seeds=1, **{"policy.greedy-copy.every": [5, 9]})
    assert len(found.rows) > 0


@migsim.policy("reasons", "gives reasons")
class Reasons(migsim.Policy):
    uses_seed = False

    def is_call_due(self, view: migsim.View) -> bool:
        view.explain("the time has come")
        return view.superstep in (1, 3)

    def decide(self, view: migsim.View) -> dict[int, int] | None:
        if view.superstep == 3:
            return None
        view.explain("it is the second", 1)
        view.explain("the first is well where it is", 0)
        return {1: 30}


def test_reasons_reach_explanations_records_and_reports(tmp_path: Path) -> None:
    run = migsim.run(app="sw", n=10, policy="reasons")
    told = run.explain(2)
    assert "reason: the time has come" in told
    assert "is to move (it is the second)." in told
    assert "stays (the first is well where it is)." in told
    assert "it is the second" not in run.explain(4) and "the time has come" in run.explain(4)
    # The overview has the reason of a call that moves no process.
    assert "the time has come" in run.explain()
    first = run.records[-2]
    assert [(one["process"], one["accepted"], one["reason"]) for one in first["candidates"]] == [
        (1, False, "the first is well where it is"),
        (2, True, "it is the second"),
    ]
    assert first["explanation"] == {"reason": "the time has come"}
    run.save(tmp_path / "run")
    assert migsim.load(tmp_path / "run").explain(2).strip() == told.strip()


def test_a_reason_of_no_process_is_refused() -> None:
    @migsim.policy("reasons-wrong")
    class Wrong(migsim.Policy):
        def decide(self, view: migsim.View) -> None:
            view.explain("why", len(view.placement))

    with pytest.raises(IndexError, match="no process 10: there are 10, counted from 0"):
        migsim.run(app="sw", n=10, policy="reasons-wrong")


def test_explanations_know_them() -> None:
    run = migsim.run(app="sw", n=25, policy="greedy-copy")
    assert "greedy-copy" in run.explain()
