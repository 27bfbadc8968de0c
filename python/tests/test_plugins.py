"""Tests of all plug-ins: the settings identify the class that decided."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import migsim

CLASS = """
import migsim

@migsim.policy("changes", "moves process 0 to a host")
class Changes(migsim.Policy):
    uses_seed = False

    def is_call_due(self, view):
        return view.superstep == 5

    def decide(self, view):
        return {0: HOST}
"""


def write(folder: Path, host: int) -> None:
    file = folder / f"changes_{host}.py"
    file.write_text(CLASS.replace("HOST", str(host)))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)


def test_a_sweep_does_not_go_on_with_results_of_another_class(tmp_path: Path) -> None:
    def hosts() -> list[str]:
        result = migsim.sweep(app="sw", n=10, policy="changes", out=tmp_path / "sweep")
        return [row["id"] for row in result.rows.rows()]

    write(tmp_path, 3)
    first = hosts()
    assert hosts() == first
    write(tmp_path, 4)
    with pytest.raises(migsim.Error, match="results of other settings"):
        hosts()


def test_settings_of_another_class_are_refused(tmp_path: Path) -> None:
    write(tmp_path, 3)
    settings = migsim.Experiment(app="sw", n=10, policy="changes").settings
    assert migsim.Experiment(settings).settings == settings
    write(tmp_path, 4)
    with pytest.raises(migsim.Error, match="the class has changed") as caught:
        migsim.Experiment(settings)
    assert "policy.changes.source_sha256" in str(caught.value)


def test_a_kind_keeps_its_names_apart() -> None:
    @migsim.trigger("same")
    class Never(migsim.Trigger): ...

    @migsim.policy("same")
    class Idle(migsim.Policy): ...

    assert "same" in migsim.triggers() and "same" in migsim.policies()


@pytest.mark.parametrize("name", ["migbsp", "two words"])
def test_a_name_that_is_taken_or_cannot_be_written_is_refused_at_once(name: str) -> None:
    with pytest.raises(migsim.Error, match=name):

        @migsim.policy(name)
        class Refused(migsim.Policy): ...

    assert migsim.run(app="sw", n=10).makespan > 0


def define(helper: str, answer: str) -> None:
    """Defines the class as a cell of a notebook would, without a file."""
    source = CLASS.replace("HOST", answer).replace("import migsim\n", f"import migsim, threading\n{helper}\n", 1)
    exec(source, {"__name__": "__main__"})


@pytest.mark.parametrize(
    "first, second",
    [
        (("", "3"), ("", "4")),
        (("def helper(): return 3", "helper()"), ("def helper(): return 4", "helper()")),
        (("HOSTS = [3]", "HOSTS[0]"), ("HOSTS = [4]", "HOSTS[0]")),
        (("class Base:\n    def host(self): return 3\n", "Base().host()"), ("class Base:\n    def host(self): return 4\n", "Base().host()")),
    ],
)
def test_kept_runs_of_a_class_without_a_file_are_not_those_of_another(first: tuple[str, str], second: tuple[str, str], tmp_path: Path) -> None:
    def sweep() -> migsim.Table:
        return migsim.sweep(app="sw", n=10, policy="changes", seeds=1, out=tmp_path / "sweep").rows

    define(*first)
    kept = sweep()["id"]
    define(*first)
    assert sweep()["id"] == kept
    define(*second)
    with pytest.raises(migsim.Error, match="results of other settings"):
        sweep()


def test_a_class_that_cannot_be_identified_is_never_continued(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="an object of the type `lock`"):
        define("LOCK = threading.Lock()", "3 if LOCK else 4")
        migsim.sweep(app="sw", n=10, policy="changes", seeds=1, out=tmp_path / "sweep")
        with pytest.raises(migsim.Error, match="results of other settings"):
            migsim.sweep(app="sw", n=10, policy="changes", seeds=1, out=tmp_path / "sweep")
        settings = migsim.run(app="sw", n=10, policy="changes").settings
        migsim.run(settings)


def test_two_draws_differ_and_depend_on_the_seed() -> None:
    def drawn(seed: int) -> list[float]:
        seen: list[float] = []

        @migsim.policy("draws")
        class Draws(migsim.Policy):
            def is_call_due(self, view: migsim.View) -> bool:
                seen.extend([view.random.random(), view.random.random()])
                return view.superstep % 5 == 4

            def decide(self, view: migsim.View) -> None:
                seen.extend([view.random.random(), view.random.random()])

        migsim.run(app="sw", n=10, policy="draws", scenario="iii", seed=seed)
        return seen

    first = drawn(1)
    assert first == drawn(1) and len(set(first)) == len(first)
    assert not set(first) & set(drawn(2))
    env = migsim.Environment(app="synthetic", procs=8, policy="refine")
    view, _ = env.reset(seed=1)
    numbers = [view.random.random(), view.random.random()]
    view, *_ = env.step()
    numbers.append(view.random.random())
    assert len(set(numbers)) == 3
    assert env.reset(seed=1)[0].random.random() == numbers[0] != env.reset(seed=2)[0].random.random()


@migsim.policy("sick", "raises an exception if it is told to")
class Sick(migsim.Policy):
    def __init__(self, is_sick: bool = False) -> None:
        self.is_sick = is_sick

    def decide(self, view: migsim.View) -> None:
        if self.is_sick:
            raise KeyError("sick")


def test_exceptions_reach_the_run_that_raised_them() -> None:
    outcomes: dict[tuple[bool, str], int] = {}

    def work(is_sick: bool) -> None:
        for _ in range(20):
            try:
                migsim.run(app="sw", n=10, policy="sick", **{"policy.sick.is_sick": is_sick})
                name = "ended"
            except Exception as error:
                name = type(error).__name__
            outcomes[is_sick, name] = outcomes.get((is_sick, name), 0) + 1

    threads = [threading.Thread(target=work, args=(is_sick,)) for is_sick in (False, True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(outcomes) == {(False, "ended"), (True, "KeyError")}


@pytest.mark.parametrize(
    "call",
    [
        lambda: migsim.sweep(app="sw", n=50, policy="never", load="walk", seeds=100_000),
        lambda: migsim.compare(app="sw", n=50, policies=["never", "sick"], load="walk", seeds=10_000),
        lambda: migsim.run(app="lu", n=5000, procs=200, scenario="i").critical_path,
    ],
)
def test_ctrl_c_ends_a_call_while_classes_are_registered(call: Any) -> None:
    sent: list[float] = []
    # A shell that starts the tests in the background lets them ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> None:
        time.sleep(1)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        call()
    # Half a second on a quiet computer.
    assert time.monotonic() - sent[0] < 5
    assert len(migsim.sweep(app="sw", n=10, seeds=1).rows) == 1


def test_tables_have_the_decisions_of_the_run(tmp_path: Path) -> None:
    target = {"host": 3, "calls": 0}

    @migsim.policy("fickle")
    class Fickle(migsim.Policy):
        def is_call_due(self, view: migsim.View) -> bool:
            return view.superstep % 5 == 4

        def decide(self, view: migsim.View) -> dict[int, int]:
            target["calls"] += 1
            return {0: target["host"]}

    run = migsim.run(app="sw", n=10, policy="fickle")
    asked, target["host"] = target["calls"], 4
    moved_to = {row["to_host"] for row in run.migrations.rows()}
    rows = [row for row in run.processes.rows() if row["scenario"] == "iii" and row["process"] == 1]
    assert rows[-1]["host"] in moved_to
    assert list(run.critical_path.rows())[-1]["end_s"] == pytest.approx(run.makespan, rel=1e-9)
    run.save(tmp_path / "run", processes=True)
    loaded = migsim.load(tmp_path / "run")
    assert loaded.processes["host"][-10] in moved_to
    assert target["calls"] == asked


MADE: list[str] = []


@migsim.policy("made")
class Made(migsim.Policy):
    def __init__(self) -> None:
        MADE.append("policy")


@migsim.trigger("made")
class MadeTrigger(migsim.Trigger):
    def __init__(self) -> None:
        MADE.append("trigger")


def test_an_object_is_made_once_for_each_scenario_that_calls_it() -> None:
    experiment = migsim.Experiment(app="sw", n=10, policy="made/made")
    assert sorted(MADE) == ["policy", "trigger"]
    experiment.run()
    assert sorted(MADE) == ["policy"] * 2 + ["trigger"] * 2
    MADE.clear()
    env = migsim.Environment(app="sw", n=10, policy="made")
    assert MADE == ["policy"]
    env.reset()
    assert MADE == ["policy"] * 2
    MADE.clear()
