#!/usr/bin/env python3
"""A policy in Python: assigns processes in decreasing order of work, each to the core that would end first, if that saves 5 % of the longest time.

migsim run --platform ufrgs.json --app sw --n 100 --policy 'exec:python3 examples/exec-policy/rival.py'
"""

import json
import sys

for line in sys.stdin:
    barrier = json.loads(line)
    speeds, current, work = barrier["speeds"], barrier["current"], barrier["work"]
    before = list(barrier["background"])
    for process, core in enumerate(current):
        before[core] += work[process] / speeds[core]
    times, places = list(barrier["background"]), list(current)
    for process in sorted(range(len(work)), key=lambda one: (-work[one], one)):
        core = min(range(len(speeds)), key=lambda one: (times[one] + work[process] / speeds[one], one))
        times[core] += work[process] / speeds[core]
        places[process] = core
    if max(times) > 0.95 * max(before):
        places = current
    operations = len(work) * len(speeds)
    print(json.dumps({"call": barrier["call"], "assignment": places, "operations": operations}), flush=True)
