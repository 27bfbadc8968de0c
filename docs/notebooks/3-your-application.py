# %% [markdown]
# # Your application
#
# Two tables can define what each process computes and sends. Here 8 processes run for 60 supersteps, and the work of the last process grows.

# %%
import csv
import tempfile
from pathlib import Path

import migsim

folder = Path(tempfile.mkdtemp())
with (folder / "work.csv").open("w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["superstep", "process", "work [instr]"])
    for superstep in range(1, 61):
        for process in range(1, 9):
            grows = 1 + superstep / 20 if process == 8 else 1
            rows.writerow([superstep, process, 1e9 * grows])
with (folder / "messages.csv").open("w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["superstep", "from", "to", "bytes"])
    for superstep in range(1, 61):
        for process in range(1, 8):
            rows.writerow([superstep, process, process + 1, 100_000])

run = migsim.run(
    app="table",
    work=folder / "work.csv",
    messages=folder / "messages.csv",
    platform="ufrgs",
    mapping="contiguous",
)
run

# %% [markdown]
# The durations of every tenth superstep, in each scenario:

# %%
table = run.supersteps
frame = table.to_pandas()
frame["duration_s"] = frame["end_s"] - frame["start_s"]
frame.pivot(index="superstep", columns="scenario", values="duration_s").iloc[::10]

# %% [markdown]
# An application may also be a class, which fills each superstep with arrays. In the class, supersteps and processes count from 0, in
# tables from 1. This class moves a hot spot over the processes.

# %%
import numpy as np


@migsim.application("hot-spot", "four times the work for one process after the other")
class HotSpot(migsim.Application):
    def __init__(self, procs: int = 8, supersteps: int = 60, every: int = 10) -> None:
        self.processes, self.supersteps, self.every = procs, supersteps, every
        self.memory_bytes = 1e6

    def fill(self, superstep: int, plan: migsim.Plan) -> None:
        plan.work = 1e9
        plan.work[superstep // self.every % self.processes] *= 4
        everybody = np.arange(self.processes)
        plan.send(everybody, (everybody + 1) % self.processes, 100_000)


migsim.compare(app="hot-spot", policies=["greedy/every=5", "migbsp", "never"])
