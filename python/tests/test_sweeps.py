"""Sweeps: rows equal to runs, parts that can be pickled."""

from __future__ import annotations

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
