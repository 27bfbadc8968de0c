"""The parts of a sweep on a Dask cluster, as in the book."""

from __future__ import annotations

from pathlib import Path

import pytest

import migsim

distributed = pytest.importorskip("dask.distributed")


def test_a_sweep_on_a_local_cluster_is_the_sweep(tmp_path: Path) -> None:
    settings: dict[str, migsim.Value] = {"app": "sw", "n": 15, "load": "walk", "alpha": [2, 4], "seeds": 5}
    whole = migsim.sweep(**settings, out=tmp_path / "whole")
    sweep = migsim.Sweep(**settings, out=tmp_path / "parts")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        folders = client.gather(client.map(lambda part: part(threads=1), sweep.shards(3)))
    merged = sweep.merge(folders)
    assert len(merged.rows) == 10
    for column in merged.rows.columns:
        assert [str(one) for one in merged.rows[column]] == [str(one) for one in whole.rows[column]], column


def test_a_worker_returns_its_run() -> None:
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        done = client.map(lambda seed: migsim.run(app="sw", n=15, load="walk", seed=seed), [1, 2])
        experiments = client.map(lambda seed: migsim.Experiment(app="sw", n=15, load="walk", seed=seed), [1, 2])
        runs, settings = client.gather(done), client.gather(experiments)
    for seed, run, experiment in zip([1, 2], runs, settings, strict=True):
        here = migsim.run(app="sw", n=15, load="walk", seed=seed)
        assert run.makespan == here.makespan and run.records == here.records
        assert list(run.supersteps["end_s"]) == list(here.supersteps["end_s"])
        assert experiment.run().makespan == here.makespan
