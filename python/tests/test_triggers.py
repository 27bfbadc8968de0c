"""Triggers in Python: copies of built-in ones request the same calls; exceptions stop the run."""

from __future__ import annotations

import traceback

import pytest

import migsim


@migsim.trigger("each", "the built-in every, rewritten")
class Each(migsim.Trigger):
    def __init__(self, supersteps: int = 10) -> None:
        self.supersteps = supersteps

    def is_due(self, observed: migsim.Observed) -> bool:
        return (observed.superstep + 1) % self.supersteps == 0


@migsim.trigger("lost", "the built-in menon, rewritten")
class Lost(migsim.Trigger):
    """Requests a call as soon as the imbalance since the last call has cost as much as a call."""

    def __init__(self) -> None:
        self.lost = 0.0

    def is_due(self, observed: migsim.Observed) -> bool:
        self.lost += observed.max_s - observed.mean_s
        if self.lost < observed.price_s:
            return False
        self.lost = 0.0
        return True


def calls(policy: str, **keywords: migsim.Value) -> list[tuple[int, float]]:
    run = migsim.run(app="sw", n=25, load="walk", seed=3, policy=policy, scenario="iii", **keywords)
    return list(zip(run.calls["superstep"].tolist(), run.calls["cost_s"].tolist(), strict=True))


@pytest.mark.parametrize("strategy", ["greedy", "greedy-refine", "migbsp"])
def test_a_copy_asks_for_the_calls_of_the_built_in_trigger(strategy: str) -> None:
    own = calls(f"{strategy}/each" if strategy != "migbsp" else strategy, **in_settings(strategy, "each", 7))
    built_in = calls(f"{strategy}/every" if strategy != "migbsp" else strategy, **in_settings(strategy, "every", 7))
    assert own == built_in and own
    assert "each" in migsim.triggers()


def in_settings(strategy: str, trigger: str, supersteps: int) -> dict[str, migsim.Value]:
    keywords: dict[str, migsim.Value] = {f"policy.trigger.{trigger}.supersteps": supersteps}
    if strategy == "migbsp":
        keywords["trigger"] = trigger
    return keywords


def test_each_run_starts_with_a_new_trigger() -> None:
    first, again = calls("greedy/lost"), calls("greedy/lost")
    assert first == again and len(first) > 1


@migsim.trigger("fails", "raises in superstep 3")
class Fails(migsim.Trigger):
    def __init__(self, inside: str = "is_due") -> None:
        self.inside = inside

    def is_due(self, observed: migsim.Observed) -> bool:
        if self.inside == "is_due" and observed.superstep == 3:
            raise LookupError("nothing there")
        return observed.superstep % 2 == 0

    def on_outcome(self, moved: int) -> None:
        if self.inside == "on_outcome":
            raise LookupError("nothing there")


@pytest.mark.parametrize(("inside", "place"), [("is_due", "is_due at superstep 3, counted from 0"), ("on_outcome", "on_outcome")])
def test_an_exception_stops_the_run(inside: str, place: str) -> None:
    with pytest.raises(LookupError, match="nothing there") as caught:
        migsim.run(app="sw", n=25, policy="greedy/fails", **{"policy.trigger.fails.inside": inside})
    assert f"in {place}" in "".join(traceback.format_exception(caught.value))
