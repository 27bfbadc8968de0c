"""Sweeps: rows equal to runs, parts that can be pickled."""

from __future__ import annotations

import math
import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import migsim


def test_a_row_is_the_run_that_it_names() -> None:
    rows = migsim.sweep(app="sw", n=25, load="walk", alpha=[2, 8], seeds=[1, 5]).rows
    # The defaults (alpha 4) are run as well: all settings are compared with them.
    assert len(rows) == 6
    for row in rows.rows():
        run = migsim.run(app="sw", n=25, load="walk", alpha=row["alpha"], seed=row["seed"])
        assert run.makespan == row["makespan_iii_s"]


def test_a_row_of_a_drawn_application_is_the_run_with_its_seed() -> None:
    drawn: dict[str, migsim.Value] = {"app": "synthetic", "procs": 8, "workload.spread": 0.5}
    rows = migsim.sweep(**drawn, seeds=3).rows
    single = [migsim.run(**drawn, seed=seed) for seed in rows["seed"]]
    assert [run.makespan for run in single] == rows["makespan_iii_s"].tolist()
    assert len({run.makespan for run in single}) == 3


def test_results_are_printed_as_their_tables() -> None:
    keywords: dict[str, migsim.Value] = {"app": "sw", "n": 15, "load": "walk"}
    swept = migsim.sweep(**keywords, alpha=[2, 4], seeds=2)
    assert "setting  alpha" in repr(swept) and "sensitivity" in str(swept)
    assert repr(migsim.SweepResult(swept.folder)).splitlines()[0].split()[:2] == ["setting", "alpha"]
    tuned = migsim.tune(**keywords, alpha=[2, 4], seeds=1, budget=6)
    assert "halving" in repr(tuned) and "defaults" in repr(tuned)
    compared = migsim.compare(**keywords, policies=["migbsp", "never"], seeds=2)
    lines = repr(compared).splitlines()
    assert lines[0].startswith("rank  policy") and compared.verdict == lines[-1]
    assert "makespan_ci95_s" in repr(migsim.Comparison(compared.folder))
    for text in (repr(swept), repr(tuned), repr(compared)):
        assert "\x1b" not in text


def test_advice_is_that_of_the_command_and_continues(tmp_path: Path) -> None:
    keywords: dict[str, migsim.Value] = {"app": "synthetic", "procs": 6, "seeds": 1, "policies": ["never", "refine"], "workload.supersteps": 12}
    advice = migsim.advise(**keywords, out=tmp_path / "advice")
    assert repr(migsim.advise(**keywords, out=tmp_path / "advice")) == repr(advice)
    assert repr(advice).startswith("Do this: ") and advice.command.startswith("migsim run --app synthetic")
    own = next(row for row in advice.pairs.rows() if row["start"] is None and row["policy"] == "never")
    assert own["whole_s"] == migsim.run(app="synthetic", procs=6, seed=1, policy="never", **{"workload.supersteps": 12}).makespan


def test_a_ranking_has_the_means_and_intervals_of_each_policy() -> None:
    result = migsim.compare(app="sw", n=15, load="walk", policies=["never", "migbsp", "refine/every=5"], seeds=4)
    ranking = result.ranking
    assert list(ranking["policy"]) == [one["policy"] for one in result.policies]
    rows = list(result.rows.rows())
    for row in ranking.rows():
        own = [one["makespan_iii_s"] for one in rows if one["policy"] == row["policy"]]
        assert math.isclose(row["makespan_s"], sum(own) / 4, rel_tol=1e-12)
    assert ranking["rank"][0] == 1 and ranking.units["gain_ci95_percent"] == "%"
    known = {one["policy"]: one for one in result.policies}
    for row in ranking.rows():
        one = known[row["policy"]]
        assert row["makespan_ci95_s"] == one["makespan_s"]["ci95"] and row["above_bound_percent"] == one["above_bound_percent"]
        assert (row["rank"] == 1) == one["ties_with_best"]


def test_parts_are_the_whole(tmp_path: Path) -> None:
    keywords: dict[str, migsim.Value] = {"app": "sw", "n": 25, "load": "walk", "alpha": [2, 4, 8]}
    whole = migsim.sweep(**keywords, seeds=2)
    sweep = migsim.Sweep(**keywords, seeds=2, out=tmp_path)
    shards = pickle.loads(pickle.dumps(sweep.shards(3)))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        folders = list(pool.map(_call, shards))
    merged = sweep.merge(folders)
    assert list(merged.rows.rows()) == list(whole.rows.rows())
    assert merged.page.exists()


def _call(shard: migsim.Shard) -> str:
    return shard(threads=1)


def test_a_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    first = migsim.sweep(app="sw", n=25, alpha=[2, 4], out=tmp_path)
    again = migsim.sweep(app="sw", n=25, alpha=[2, 4], out=tmp_path)
    assert list(first.rows.rows()) == list(again.rows.rows())


@pytest.mark.parametrize(
    "keyword, values",
    [("load", ["walk", "walk,step=0.3"]), ("load", [{"kind": "walk"}, "none"]), ("mapping", ["by-speed", "contiguous"]), ("alpha", np.array([2, 4]))],
)
def test_a_list_varies_any_setting(keyword: str, values: migsim.Value) -> None:
    rows = migsim.sweep("sw", n=15, **{keyword: values}).rows  # type: ignore[arg-type]
    assert len(rows) == 2 and rows["setting"].tolist() == [1, 2]


def test_a_run_that_fails_is_a_row_and_notes_are_warnings() -> None:
    with pytest.warns(UserWarning, match="1 of 2 runs failed"):
        result = migsim.sweep(platform="lbm", app="synthetic", policy="brute-force", procs=[2, 20], seeds=1)
    assert [row["procs"] for row in result.failed] == [20.0] and result.rows["makespan_iii_s"][0] > 0
    assert any("no effect" in note for note in result.notes)


def test_tables_of_two_results_can_be_joined_and_their_folders_go() -> None:
    polars = pytest.importorskip("polars")
    small = migsim.sweep(app="sw", n=10, policy="never")
    large = migsim.sweep(app="sw", n=10, load="walk", policy="migbsp", seeds=2)
    assert polars.concat([small.rows.to_polars(), large.rows.to_polars()]).shape[0] == 3
    assert polars.concat([small.summary.to_polars(), large.summary.to_polars()]).shape[0] == 2
    rankings = [migsim.compare(app="sw", n=10, policies=policies, seeds=seeds, load="walk").ranking for policies, seeds in [("never", 1), ("migbsp", 2)]]
    assert len(polars.concat([one.to_polars() for one in rankings])) == sum(map(len, rankings))
    folder = Path(small.folder)
    assert folder.exists()
    del small
    assert not folder.exists()


def test_a_result_keeps_its_rows_when_its_folder_has_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = migsim.sweep(app="sw", n=10, out="one")
    makespan = first.rows["makespan_iii_s"][0]
    shutil.rmtree("one")
    migsim.sweep(app="sw", n=15, out="one")
    monkeypatch.chdir("/")
    assert first.rows["makespan_iii_s"][0] == makespan and first.page.exists()
