"""Tests of all plug-ins: the settings identify the class that decided."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

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
    assert hosts() != first


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
