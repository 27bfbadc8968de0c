#!/usr/bin/env python3
"""Measures `migsim.Environment`: steps a second and the time of a copy, with 32 processes on one core.

    python benches/environment.py [SECONDS]      with the package installed in the release profile (`pip install .`); default: 2 s for each figure

Each figure is the best of five parts of the time, since other programs only take time away. The aims are 20 000 steps a
second, and a copy in less than 50 us.
"""

import sys
import time

import migsim

PARTS = 5
CASE = {"app": "synthetic", "procs": 32, "load": "walk", "workload.supersteps": 200, "workload.spread": 0.5}


def least(seconds, part):
    """The least time of one operation [us] over parts of the time; `part` does some operations and returns their number."""
    best = float("inf")
    for _ in range(PARTS):
        begin, count = time.perf_counter(), 0
        while time.perf_counter() - begin < seconds / PARTS:
            count += part()
        best = min(best, (time.perf_counter() - begin) / count)
    return 1e6 * best


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    env = migsim.Environment(policy="refine", **CASE)
    env.reset(seed=1)
    start = env.clone()

    def episode(every, looks):
        run, is_over, count = start.clone(), False, 0
        while not is_over:
            count += 1
            view, _, is_over, _, _ = run.step(every > 0 and count % every == 0)
            if looks:
                view.compute_s
        return count

    def copies():
        for _ in range(100):
            start.clone()
        return 100

    for name, every, looks in [("no call", 0, False), ("no call, times read", 0, True), ("a call every 10 supersteps", 10, True)]:
        each = least(seconds, lambda: episode(every, looks))
        print(f"step, {name}: {each:.1f} us, {1e6 / each:.0f} a second")
    print(f"copy: {least(seconds, copies):.1f} us")


if __name__ == "__main__":
    main()
