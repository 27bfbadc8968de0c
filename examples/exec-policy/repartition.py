#!/usr/bin/env python3
"""A graph partitioner as a policy: processes are vertices, messages are edges, and cores are parts with weights by their speeds.

migsim run --platform ufrgs.json --app sw --n 100 --policy 'exec:python3 examples/exec-policy/repartition.py scotch'

`scotch` (Debian package scotch) maps with the present map as the old one, where a process that stays counts as much as an edge.
`metis` (Debian package metis) partitions from scratch. Then its parts are renamed among cores of the same weight, so that much memory
stays. `zoltan` (zoltan.c beside this file, compiled as `zoltan_repartition` in a folder of PATH) repartitions by traffic in 100 supersteps
and memory to move. All leave all as it is unless the longest computation falls by 5 %. Seeds are fixed. Nothing knows the memory of hosts.
"""

import json
import math
import subprocess
import sys
import tempfile

GAIN = 0.95  # the longest time after the call over that before it, at most
SUPERSTEPS = 100  # the supersteps whose traffic counts as much as memory of the same size that moves (zoltan)
WHOLE = 10_000  # the largest weight of a vertex or a part, which are whole numbers


def ran(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: {done.stdout.strip()}")


def edges_of(barrier):
    """The bytes between the processes of each pair, both ways together, as weights from 1 to 1000, by process; and the most bytes."""
    bytes_of = {}
    for sender, receiver, _, size in barrier.get("communication", []):
        if sender != receiver:
            pair = (min(sender, receiver), max(sender, receiver))
            bytes_of[pair] = bytes_of.get(pair, 0) + size
    most = max(bytes_of.values(), default=1) or 1
    rows = [[] for _ in barrier["work"]]
    for (one, other), size in sorted(bytes_of.items()):
        weight = max(1, round(1000 * size / most))
        rows[one].append((weight, other))
        rows[other].append((weight, one))
    return rows, most


def scotch(folder, weights, edges, parts, old, _):
    """Scotch remaps from the old parts; a process on a core that is no part has none (-1)."""
    with open(f"{folder}/graph", "w") as file:
        print(f"0\n{len(weights)} {sum(map(len, edges))}\n0 011", file=file)
        for weight, row in zip(weights, edges):
            print(weight, len(row), *(number for edge in row for number in edge), file=file)
    with open(f"{folder}/target", "w") as file:
        print("cmpltw", len(parts), *parts, file=file)
    with open(f"{folder}/old", "w") as file:
        print(len(old), *(f"{vertex}\t{part}" for vertex, part in enumerate(old)), sep="\n", file=file)
    ran("scotch_gmap", f"{folder}/graph", f"{folder}/target", f"{folder}/map", f"-ro{folder}/old", "-Cd", "-b0.01")
    with open(f"{folder}/map") as file:
        pairs = [tuple(map(int, line.split())) for line in file.readlines()[1:]]
    return [part for _, part in sorted(pairs)]


def metis(folder, weights, edges, parts, *_):
    """METIS partitions from scratch. It refuses a graph without an edge."""
    if not any(edges):
        edges = [[(1, 1)], [(1, 0)]] + edges[2:]
    with open(f"{folder}/graph", "w") as file:
        print(len(weights), sum(map(len, edges)) // 2, "011", file=file)
        for weight, row in zip(weights, edges):
            print(weight, *(f"{other + 1} {size}" for size, other in row), file=file)
    with open(f"{folder}/parts", "w") as file:
        for part, weight in enumerate(parts):
            print(part, "=", weight / sum(parts), file=file)
    ran("gpmetis", "-ptype=rb", "-seed=1", f"-tpwgts={folder}/parts", f"{folder}/graph", str(len(parts)))
    with open(f"{folder}/graph.part.{len(parts)}") as file:
        return [int(line) for line in file]


def zoltan(folder, weights, edges, parts, old, sizes):
    """Zoltan repartitions from the old parts; a process on a core that is no part moves for nothing."""
    with open(f"{folder}/graph", "w") as file:
        print(len(weights), len(parts), *parts, file=file)
        for weight, row, part, size in zip(weights, edges, old, sizes):
            here = (part, size) if part >= 0 else (0, 0)
            print(weight, *here, len(row), *(f"{other} {traffic}" for traffic, other in row), file=file)
    with open(f"{folder}/graph") as file:
        done = subprocess.run("zoltan_repartition", stdin=file, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"zoltan_repartition: {done.stderr.strip()}")
    return [int(line) for line in done.stdout.splitlines()]


def renamed(found, parts, old, memory):
    """Parts renamed among those of the same weight: the pair with the most memory that stays first."""
    stays = {}
    for process, (new, was) in enumerate(zip(found, old)):
        if was >= 0 and parts[new] == parts[was]:
            stays[new, was] = stays.get((new, was), 0) + 1 + memory[process]
    name, taken = {}, set()
    for new, was in sorted(stays, key=lambda pair: (-stays[pair], pair)):
        if new not in name and was not in taken:
            name[new] = was
            taken.add(was)
    for new, weight in enumerate(parts):
        if new not in name:
            name[new] = next(part for part, other in enumerate(parts) if other == weight and part not in taken)
            taken.add(name[new])
    return [name[part] for part in found]


def decide(barrier, partition):
    speeds, current, work = barrier["speeds"], barrier["current"], barrier["work"]
    background, memory = barrier["background"], barrier.get("memory") or [0] * len(work)

    def longest(places):
        times = list(background)
        for process, core in enumerate(places):
            times[core] += work[process] / speeds[core]
        return max(times)

    balanced = (sum(work) + sum(map(lambda b, s: b * s, background, speeds))) / sum(speeds)
    room = [max(0.0, balanced - busy) * speed for busy, speed in zip(background, speeds)]
    used = set(current)
    order = sorted(range(len(speeds)), key=lambda core: (-room[core], core not in used, core))
    cores = sorted(core for core in order[: len(work)] if room[core] > 0)
    if len(cores) < 2:
        return current, 0
    parts = [max(1, round(WHOLE * room[core] / max(room))) for core in cores]
    weights = [max(1, round(WHOLE * one / max(work))) for one in work]
    (edges, most), number = edges_of(barrier), {core: part for part, core in enumerate(cores)}
    old = [number.get(core, -1) for core in current]
    with tempfile.TemporaryDirectory() as folder:
        sizes = [round(1000 * one / (SUPERSTEPS * most)) for one in memory]
        found = partition(folder, weights, edges, parts, old, sizes)
    if partition is metis:
        found = renamed(found, parts, old, memory)
    places = [cores[part] for part in found]
    # Multilevel partitioning visits vertices and edges on each level: an estimate.
    operations = 10 * (len(work) + sum(map(len, edges))) * math.ceil(math.log2(len(cores)))
    return (places if longest(places) <= GAIN * longest(current) else current), operations


chosen = {"scotch": scotch, "metis": metis, "zoltan": zoltan}.get(sys.argv[1] if len(sys.argv) > 1 else "")
if chosen is None:
    sys.exit("name a partitioner: scotch, metis or zoltan")
for line in sys.stdin:
    barrier = json.loads(line)
    assignment, operations = decide(barrier, chosen)
    print(json.dumps({"call": barrier["call"], "assignment": assignment, "operations": operations}), flush=True)
