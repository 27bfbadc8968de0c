"""Sweeps: rows equal to runs, parts that can be pickled."""

from __future__ import annotations

import math
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import migsim


def test_a_row_is_the_run_that_it_names() -> None:
    rows = migsim.sweep(app="sw", n=25, load="walk", alpha=[2, 8], seeds=[1, 5]).rows
    assert len(rows) == 4
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
