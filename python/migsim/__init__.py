"""migsim: simulates BSP applications on clusters of clusters, whose processes a policy migrates at barriers.

>>> import migsim
>>> run = migsim.run(app="lu", n=1000, procs=25)
>>> sorted(run.scenarios)
['i', 'ii', 'iii']
>>> run.makespan < run.scenarios["i"].makespan
True

Times are in seconds, sizes in bytes, speeds in instructions per second.

Methods of your own policies, triggers and applications count supersteps, processes and hosts from 0, as array indices do. Tables,
records and `Run.explain` count supersteps and processes from 1, as do the papers and the files of the command: superstep 0 of `fill` is
superstep 1 of a table.
"""

from ._application import Application, Plan, application, applications
from ._arguments import Value
from ._core import __version__
from ._environment import Action, Environment
from ._errors import Error, Problem
from ._experiment import Experiment, run
from ._policy import Answer, Policy, PlatformView, View, policy, policies
from ._platform import Platform, PlatformBuilder
from ._run import Run, Scenario, load
from ._sweep import Bottlenecks, Comparison, Shard, Sweep, SweepResult, Tuning, bench, bottlenecks, compare, sweep, tune
from ._table import Table
from ._trigger import Observed, Trigger, trigger, triggers

__all__ = [
    "Action",
    "Answer",
    "Application",
    "Bottlenecks",
    "Comparison",
    "Environment",
    "Error",
    "Experiment",
    "Observed",
    "Platform",
    "PlatformBuilder",
    "PlatformView",
    "Plan",
    "Policy",
    "Problem",
    "Run",
    "Scenario",
    "Shard",
    "Sweep",
    "SweepResult",
    "Table",
    "Trigger",
    "Tuning",
    "Value",
    "View",
    "__version__",
    "application",
    "applications",
    "bench",
    "bottlenecks",
    "compare",
    "load",
    "policies",
    "policy",
    "run",
    "sweep",
    "trigger",
    "triggers",
    "tune",
]
