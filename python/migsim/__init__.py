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

from ._application import Application as Application, Plan as Plan, application as application, applications as applications
from ._arguments import Value as Value
from ._core import __version__ as __version__
from ._environment import Action as Action, Environment as Environment
from ._errors import Error as Error, Problem as Problem
from ._experiment import Experiment as Experiment, run as run
from ._platform import Platform as Platform, PlatformBuilder as PlatformBuilder
from ._policy import Answer as Answer, PlatformView as PlatformView, Policy as Policy, View as View, policies as policies, policy as policy
from ._run import Run as Run, Scenario as Scenario, load as load
from ._sweep import Advice as Advice, Bottlenecks as Bottlenecks, Comparison as Comparison, Shard as Shard, Sweep as Sweep, SweepResult as SweepResult
from ._sweep import Tuning as Tuning, advise as advise, bench as bench, bottlenecks as bottlenecks, compare as compare, sweep as sweep, tune as tune
from ._table import Table as Table
from ._trigger import Observed as Observed, Trigger as Trigger, trigger as trigger, triggers as triggers
