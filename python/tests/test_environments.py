"""Runs that stop at each barrier."""

from __future__ import annotations

import json
import sys
import threading

import numpy as np
import pytest

import migsim

SETTINGS = {
    "app": "synthetic",
    "procs": 12,
    "load": "walk",
    "workload.supersteps": 40,
    "workload.spread": 0.8,
    "workload.drift": 0.5,
}


def makespan(env: migsim.Environment, actions) -> float:
    """Runs to the end with the action of each superstep, counted from 0; returns the makespan."""
    while True:
        view, _, is_over, is_cut, info = env.step(actions(env))
        assert not is_cut
        if is_over:
            return info["makespan_s"]


@pytest.mark.parametrize("strategy", ["greedy", "greedy-comm", "inform-and-transfer"])
def test_the_strategy_called_when_a_trigger_calls_it_gives_the_run_of_the_policy(strategy):
    run = migsim.run(policy=f"{strategy}/every=7", scenario="iii", seed=3, **SETTINGS)
    env = migsim.Environment(policy=strategy, **SETTINGS)
    env.reset(seed=3)
    assert makespan(env, lambda env: env.view.superstep % 7 == 6) == run.makespan
    # The same moves, given explicitly, in calls whose price does not depend on the policy.
    fixed = {**SETTINGS, "costs.call.model": "additive", "costs.call.fixed": "10 ms"}
    run = migsim.run(policy=f"{strategy}/every=7", scenario="iii", seed=3, **fixed)
    env = migsim.Environment(policy=strategy, **fixed)
    env.reset(seed=3)
    if strategy != "inform-and-transfer":  # it draws: what it proposes is not what it draws next
        assert makespan(env, lambda env: env.propose() if env.view.superstep % 7 == 6 else None) == run.makespan


@migsim.policy("called")
class Called(migsim.Policy):
    def __init__(self) -> None:
        self.count = 0

    def decide(self, view: migsim.View) -> dict[int, int]:
        self.count += 1
        return {0: self.count}


@pytest.mark.parametrize("policy", ["migbsp", "migbsp-2007", "ulba", "bandit", "never", "called"])
def test_every_policy_can_be_called(policy):
    env = migsim.Environment(policy=policy, **SETTINGS)
    if policy not in ("bandit", "migbsp-2007"):  # they cannot be copied
        moves = env.propose()
        assert env.propose() == moves
        copy = env.clone()
        assert copy.step(True)[1:] == env.clone().step(moves)[1:]
        assert copy.step(True)[1:] == (env.step(True), env.step(True))[1][1:]
    assert env.step(True)[4]["call_s"] > 0


@pytest.mark.parametrize("strategy", ["greedy", "refine", "prefix", "diffusion"])
def test_the_proposed_moves_cost_what_the_policy_costs(strategy):
    env = migsim.Environment(policy=strategy, **SETTINGS)
    other = env.clone()
    assert env.step(True)[1:] == other.step(other.propose())[1:]


@pytest.mark.parametrize(
    "answer", ["central", "through-managers", {"between-neighbours": {"rounds": 9, "max_messages_per_round": 2}}]
)
def test_a_class_and_a_program_pay_the_same_call(answer, tmp_path):
    @migsim.policy("declares")
    class Declares(migsim.Policy):
        procedure, operations = answer, 1000

        def decide(self, view: migsim.View) -> None:
            assert len(view.memory_bytes) == 12

        def is_call_due(self, view: migsim.View) -> bool:
            with pytest.raises(RuntimeError, match="in `decide` only"):
                view.messages
            return True

    program = tmp_path / "stay.py"
    program.write_text(
        "import json, sys\nfor line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    print(json.dumps({'call': asked['call'], 'assignment': asked['current'], 'operations': 1000, "
        f"'gather': {answer!r}}}), flush=True)\n"
    )
    costs = []
    for policy, options in [("declares/every=10", {}), ("exec/every=10", {"policy.exec.command": f"{sys.executable} {program}", "allow_exec": True})]:
        costs.append(migsim.run(policy=policy, **SETTINGS, **options).calls["cost_s"].tolist())
    assert costs[0] == costs[1]


def test_gymnasium_accepts_the_environment():
    pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    from migsim.gymnasium import Env

    env = Env(policy="migbsp", **SETTINGS)
    check_env(env, skip_render_check=True)
    first, *_ = env.reset(seed=1)
    assert (env.reset(seed=1)[0] == first).all() and (env.reset()[0] != first).any()


def test_rewards_and_the_first_superstep_add_up_to_the_makespan():
    env = migsim.Environment(policy="refine", **SETTINGS)
    view, info = env.reset(seed=2)
    total, is_over = info["now_s"], False
    while not is_over:
        view, reward, is_over, _, info = env.step(view.superstep % 10 == 9)
        assert reward < 0 and (info["call_s"] > 0) == (view.superstep % 10 == 0 and not is_over)
        total -= reward
    assert total == pytest.approx(info["makespan_s"], rel=1e-12)
    with pytest.raises(ValueError, match="the run is over"):
        env.step()
    # The same seed gives the same episode.
    assert env.reset()[1] == env.reset(seed=2)[1] != env.reset(seed=5)[1]


def test_copies_go_on_by_themselves():
    env = migsim.Environment(policy="refine", **SETTINGS)
    env.reset(seed=1)
    for _ in range(11):
        env.step(False)
    copies = [env.clone() for _ in range(3)]
    moved = [makespan(copies[0], lambda env: env.view.superstep == 15), makespan(copies[1], lambda env: None)]
    del copies[0]
    again = [env.clone(), env]
    assert [makespan(again[0], lambda env: env.view.superstep == 15), makespan(again[1], lambda env: None)] == moved
    assert moved[0] != moved[1]
    # The remaining run continues where it was.
    assert copies[1].view.superstep == 11
    assert makespan(copies[1], lambda env: None) == moved[1]


def test_moves_may_be_given_in_every_form_of_a_policy():
    env = migsim.Environment(policy="never", **SETTINGS)
    view, _ = env.reset(seed=1)
    hosts = np.array(view.placement)
    hosts[0], hosts[3] = hosts[3], hosts[0]
    wanted = {0: int(hosts[0]), 3: int(hosts[3])}
    assert env.clone().step(np.True_)[1] == env.clone().step(True)[1]
    assert env.clone().step(np.False_)[1] == env.clone().step(None)[1]
    seen = set()
    for action in (wanted, list(wanted.items()), hosts):
        copy = env.clone()
        view, reward, *_ = copy.step(action)
        assert list(view.placement) == list(hosts)
        seen.add(reward)
    assert len(seen) == 1


def test_what_cannot_be_done_is_refused_where_the_run_stays():
    env = migsim.Environment(policy="never", **SETTINGS)
    before = env.reset(seed=1)[1]["now_s"]
    with pytest.raises(ValueError, match="process 99 cannot go to host 0"):
        env.step({99: 0})
    with pytest.raises(TypeError, match="the action is 5"):
        env.step(5)
    bandit = migsim.Environment(policy="bandit", **SETTINGS)
    for call in (bandit.propose, lambda: bandit.clone().step(True)):
        with pytest.raises(ValueError, match="cannot be copied"):
            call()
    with pytest.raises(migsim.Error, match="moves process 1 twice"):
        env.step([(0, 0), (0, 1)])
    assert env.reset()[1]["now_s"] == before
    env.step()


SICK = {"is_sick": True}


@migsim.application("falls-ill", "raises an exception in superstep 5")
class FallsIll(migsim.Application):
    def __init__(self, procs: int = 4) -> None:
        self.processes, self.supersteps = procs, 10

    def fill(self, superstep, plan):
        if superstep == 5 and SICK["is_sick"]:
            raise OSError("ill")
        plan.work = 1e8


def test_a_run_that_failed_is_over_until_it_is_reset():
    SICK["is_sick"] = True
    env = migsim.Environment(app="falls-ill")
    env.reset()
    with pytest.raises(OSError, match="ill"):
        makespan(env, lambda env: None)
    with pytest.raises(RuntimeError, match="call `reset`"):
        env.step()
    experiment = migsim.Experiment(app="falls-ill", scenario="i")
    with pytest.raises(OSError, match="ill"):
        experiment.run()
    SICK["is_sick"] = False
    env.reset()
    assert makespan(env, lambda env: None) == experiment.run().makespan > 0


def test_an_action_may_use_other_copies():
    env = migsim.Environment(policy="refine", **SETTINGS)
    env.reset(seed=1)
    other = env.clone().clone()

    def lazily():
        other.step()
        env.clone()
        yield 0, 1

    assert env.clone().step([(0, 1)])[1] == env.step(lazily())[1]


def test_copies_run_in_threads_with_an_application_in_python():
    SICK["is_sick"] = False
    env = migsim.Environment(app="falls-ill")
    env.reset()
    ends = []
    copies = [env.clone() for _ in range(4)]
    threads = [threading.Thread(target=lambda copy=copy: ends.append(makespan(copy, lambda env: None)), daemon=True) for copy in copies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert ends == [makespan(env, lambda env: None)] * 4

#: Two clusters of hosts with four cores.
FOUR_CORES = {
    "schema": "migsim-platform-1",
    "name": "four-cores",
    "clusters": [
        {"name": name, "router": name, "hosts": 2, "cores": 4, "speed": "1 GHz", "link": {"bandwidth": "1 Gbps", "latency": "10 us"}} for name in ("a", "b")
    ],
    "links": [{"name": "wan", "from": "a", "to": "b", "bandwidth": "1 Gbps", "latency": "1 ms"}],
}
#: Moves of processes to hosts after superstep 5.
WANTED = {0: 3, 5: 0}
SEEN: list[list[int]] = []


@migsim.policy("door")
class Door(migsim.Policy):
    def is_call_due(self, view):
        return view.superstep == 4

    def decide(self, view):
        SEEN.append(view.placement.tolist())
        return WANTED


PROGRAM = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    placement = asked["placement"]
    assert placement == [asked["host_of_core"][core] for core in asked["current"]]
    assert asked["host_of_core"] == [host for host, one in enumerate(asked["hosts"]) for _ in range(one["cores"])]
    print(placement, file=open(sys.argv[2], "w"))
    for process, host in {WANTED}.items():
        placement[process] = host
        asked["current"][process] = asked["host_of_core"].index(host)
    places = {"placement": placement, "assignment": asked["current"]}[sys.argv[1]]
    print(json.dumps({"call": asked["call"], sys.argv[1]: places}), flush=True)
"""


def test_hosts_of_four_cores_have_the_same_numbers_through_every_door(tmp_path):
    settings = {"app": "synthetic", "procs": 16, "platform": FOUR_CORES, "scenario": "iii", "workload.supersteps": 9, "workload.spread": 0.5}
    settings |= {"costs.call.model": "additive", "costs.call.fixed": "10 ms"}
    first = migsim.run(policy="door", **settings)
    first.save(tmp_path / "first")
    found = [(first.makespan, list(first.migrations.rows()))]
    program, told = tmp_path / "door.py", tmp_path / "told"
    program.write_text(PROGRAM.replace("{WANTED}", str(WANTED)))
    for key in ("assignment", "placement"):
        run = migsim.run(policy=f"exec:{sys.executable} {program} {key} {told}/every=5", **settings)
        found.append((run.makespan, list(run.migrations.rows())))
        assert json.loads(told.read_text()) == SEEN[0]
    again = migsim.run(policy=f"replay:{tmp_path}/first/calls.jsonl", **settings)
    found.append((again.makespan, list(again.migrations.rows())))
    assert found == [found[0]] * len(found)
    moved = {row["process"] - 1: row["to_host"] for row in found[0][1]}
    for action in (WANTED, True):
        env = migsim.Environment(policy="door", **settings)
        names = env.view.platform["hosts"]
        assert moved == {process: names[host] for process, host in WANTED.items()}
        while env.view.superstep < 4:
            env.step()
        assert env.view.placement.tolist() == SEEN[0] and env.propose() == WANTED
        env.step(action)
        assert all(env.view.placement[process] == host for process, host in WANTED.items())
        assert makespan(env, lambda env: None) == first.makespan
