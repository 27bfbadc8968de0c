"""Policies of Python: a copy of a built-in one decides as it does; exceptions, options, generators."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import migsim


@migsim.policy("greedy-copy", "the built-in greedy, written anew")
class GreedyCopy(migsim.Policy):
    """Each process by falling work to the host that ends first (hosts of one core without limits of memory)."""

    uses_seed = False

    def __init__(self, every: int = 10) -> None:
        self.every, self.count, self.work = every, 0, np.zeros(0)

    def is_call_due(self, view: migsim.View) -> bool:
        self.count += 1
        self.work = (self.work if self.work.size else 0.0) + view.work
        return view.superstep % self.every == 0

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
    assert f"in {inside} after superstep 3" in told and "nothing there" in told
    # The next run is not touched by it.
    assert migsim.run(app="sw", n=10, policy="faulty", **{"policy.faulty.at": 999}).makespan > 0


def test_an_answer_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot go to host 1000000"):
        migsim.run(app="sw", n=10, policy="faulty", **{"policy.faulty.inside": "answer"})


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


def test_explanations_know_them() -> None:
    run = migsim.run(app="sw", n=25, policy="greedy-copy")
    assert "greedy-copy" in run.explain()
