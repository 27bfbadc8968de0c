"""Writes results/recorded.md of the results that `run` has kept."""

import statistics

TITLE = """# Recorded programs on one computer: predicted and measured

Written by `benches/recorded/run page FOLDER` from results of `run pairs` and `run many`, which do the measurements. Seven programs ran with 2 processes on
the two cores of one virtual computer, under Open MPI 4.1.4. Each program was measured five times and recorded five times, alternately. A time begins at
a barrier after MPI_Init and ends at MPI_Finalize.

`migsim calibrate -- mpirun -np 2` measured the messages once for each transport. Then each trace was simulated on a platform of one host with two cores and the speed of the
recording. No number was fitted to a program.

Reasons to doubt this page:

- **The computer was not idle.** Other programs ran on it, but the measured programs had a far larger share of the processor (the priority of their group was -20).
- **Two processes on two cores compete** for caches and memory. A recording contains the effect of this competition, so the prediction contains it, too. On other hosts the effect would be different.
- **The C library keeps freed memory** in all runs (`MALLOC_TRIM_THRESHOLD_` and `MALLOC_MMAP_THRESHOLD_` of 1 GB). By default it depends on the layout of the
  heap whether large arrays get new pages each time.
- **The bandwidth inside a host varies** with the other load of the computer, and depends on whether a message is in a cache. The ping-pong sends messages from 1 MB
  from a buffer of 64 MB, so that they are in no cache.
- **The median has a spread of its own.** Measured again on another day on an idle computer of this kind, after messages got processor times: 2.4 % over shared memory, and 3.2 and 2.3 % in two series over TCP, with single recordings.
- **One kind of computer, one MPI library.** The page [Reality](reality.md) has networks between hosts.
"""

LEGEND = """
*Measured* is the median of five runs. *Predicted* is the median of five predictions, each from one recording. *Least* is the shortest run. *Least of pieces* and *median of pieces* are predictions from one trace, which
`migsim record --repeat 5` makes from five runs, without and with `--take median`. *Spread* is the difference between the longest and the shortest measured run, relative to the median.
"""

PAIRS = """
| program | measured [s] | spread [%] | predicted [s] | off [%] | median of pieces [s] | off [%] | measured, least [s] | least of pieces [s] | off [%] |
|---|---|---|---|---|---|---|---|---|---|
"""


def percent(part, whole):
    return 100 * (part / whole - 1)


def pairs(results, transport):
    rows, errors, median_errors, least_errors = [], [], [], []
    for key, row in results.items():
        if not key.startswith(transport + " ") or "measured" not in row:
            continue
        measured, single = statistics.median(row["measured"]), statistics.median(row["single"])
        least = min(row["measured"])
        spread = 100 * (max(row["measured"]) - least) / measured
        errors.append(percent(single, measured))
        median_errors.append(percent(row["median"], measured))
        least_errors.append(percent(row["least"], least))
        rows.append(
            f"| {key.removeprefix(transport + ' ')} | {measured:.4f} | {spread:.0f} | {single:.4f} | {errors[-1]:+.1f} | {row['median']:.4f} | {median_errors[-1]:+.1f} | {least:.4f} | {row['least']:.4f} | {least_errors[-1]:+.1f} |"
        )
    middle = [statistics.median(map(abs, some)) for some in (errors, median_errors, least_errors)]
    text = f"\n## {'TCP over the loopback device' if transport == 'tcp' else 'Shared memory'}\n"
    inside = [line.removeprefix("inside a host: ") for line in results[f"calibration {transport}"].splitlines() if line.startswith("inside a host")]
    residual = next(line for line in results[f"calibration {transport}"].splitlines() if line.startswith("median residual"))
    text += f"\n`migsim calibrate` found: {'; '.join(inside)}; {residual}.\n"
    text += f"\n**Median error: {middle[0]:.1f} % with single recordings, {middle[1]:.1f} % with the median of pieces, and {middle[2]:.1f} % with the least of pieces, compared with the shortest run.**\n"
    # The first of the two tables explains the columns.
    legend = "\nThe columns are those of the table for shared memory.\n" if transport == "tcp" else LEGEND
    return text + legend + PAIRS + "\n".join(rows) + "\n"


OTHER_COUNTS = """
Collectives, each counted and recorded for itself (a barrier, and 20 collectives with 8 B, 800 B, 8 kB, 80 kB and 800 kB): with 2, 3, 4, 6, 8, 12 and 16 processes, 707 of 707 cases have the same messages and bytes on each pair of
processes. Before version 0.4.0, traces had the messages of formulas, and 430 of these cases were equal. The recorder was made with other cases: 31 kinds with seven sizes, roots, halves of the world, `MPI_IN_PLACE`, unequal and empty blocks,
an operation that does not commute, several unfinished collectives at a time, neighbours and files, and 8 ways to create communicators; 1125 of 1125 are equal with 2, 4, 5, 7 and 10 processes. `tests/record/run` repeats a part.

Programs that had no part in the making: `dgpart` of PT-Scotch (Alltoallv; 8 processes, 997 messages), `ncmpidiff` of PnetCDF (MPI-IO; 2, 4 and 8 processes, 60, 232 and 708 messages) and HPCC, counted and recorded in one run since it chooses its
repetitions by measured latency (2 and 4 processes, 16 699 and 38 130 messages; the count has 22 and 76 more, which the recorder itself sends): all equal.
"""


def counts(results):
    text = """
## Messages and bytes

Open MPI itself counts: its monitoring component calls a function of `benches/recorded/count.c` for each message, also for those inside collectives and calls that create communicators. It shares no code with the recorder.
In all rows, the messages and bytes of each pair of processes are equal, too.

| program | processes | messages counted | messages recorded | bytes counted | bytes recorded |
|---|---|---|---|---|---|
"""
    for key, row in results.items():
        if "counted" in row and not key.startswith(("tcp ", "hosts ")):
            name, processes = (key.removeprefix("many "), 32) if key.startswith("many ") else (key.removeprefix("shared-memory "), 2)
            (messages, size), (found, bytes_found) = row["counted"], row["recorded"]
            text += f"| {name} | {processes} | {messages} | {found} | {size} | {bytes_found} |\n"
    return text + OTHER_COUNTS


def many(results):
    text = """
## 32 processes on two cores

Programs in which each process has the same work for any number of processes were recorded with 8 and with 32 processes, `--clock cpu` and `--repeat 3`. The table has the mean work of a process in seconds on a
core, and the excess of the largest work over the mean.

| program | work with 8 processes [s] | work with 32 processes [s] | off [%] | largest of 32 above the mean [%] |
|---|---|---|---|---|
"""
    for key, row in results.items():
        if key.startswith("many "):
            few, all = statistics.mean(row["few"]), statistics.mean(row["many"])
            text += f"| {key.removeprefix('many ')} | {few:.4f} | {all:.4f} | {percent(all, few):+.1f} | {percent(max(row['many']), all):+.1f} |\n"
    for key, row in results.items():
        if "alone" in row:
            few, all = (statistics.mean(work) for work in row["alone"])
            text += f"\nThe work of `{key.removeprefix('many ')}` depends on the number of processes, which is its number of buckets. One process alone with the work of one of 8 takes {few:.4f} s,\n"
            text += f"and with the work of one of 32 {all:.4f} s: {percent(all, few):+.1f} % (`benches/recorded/sort.c`, last argument). The rest of the difference is the competition for caches.\n"
    return text


def hosts(results):
    calibration = results["calibration hosts"].splitlines()
    found = [line for line in calibration if line.startswith(("overhead", "bandwidth", "median residual"))]
    text = f"""
## 8 processes on shaped links

Each of 8 processes ran in a network namespace of its own, on the platform `two` of the page [Reality](reality.md): two clusters of four hosts with links of 100 Mbps and 0.1 ms, and 50 Mbps and 2 ms
between the clusters. Waiting processes sleep (`benches/recorded/hosts.c`). The sizes are small, because all processes compute on the same two cores, and the network should take most
of the time.

`migsim calibrate --platform two.json --between a-0,a-1 -- launch.sh 8` measured the messages: {"; ".join(found)}. The prediction runs the trace on the nominal platform.

- *Recorded there*: five recordings on the namespaces with the wall clock, in turns with the measured runs; the medians are compared. Such a recording contains the competition for the cores.
- *Recorded elsewhere*: `migsim record --clock cpu --repeat 3` on the one computer, through shared memory. It knows neither the network nor the competition for the cores.
  *With queues* is the same with `--net queues=true`.

| program | measured [s] | spread [%] | recorded there [s] | off [%] | recorded elsewhere [s] | off [%] | with queues [s] | off [%] |
|---|---|---|---|---|---|---|---|---|
"""
    errors, rows = [], []
    for key, row in results.items():
        if not key.startswith("hosts "):
            continue
        measured, there = statistics.median(row["measured"]), statistics.median(row["there"])
        spread = 100 * (max(row["measured"]) - min(row["measured"])) / measured
        errors.append(percent(there, measured))
        text += f"| {key.removeprefix('hosts ')} | {measured:.4f} | {spread:.0f} | {there:.4f} | {errors[-1]:+.1f} "
        text += "".join(f"| {row[what]:.4f} | {percent(row[what], measured):+.1f} " for what in ["elsewhere", "queues"]) + "|\n"
        counted, recorded = tuple(row["counted"]), tuple(row["recorded"])
        rows.append(f"{key.removeprefix('hosts ')} {recorded[0]} and {recorded[1]}" + ("" if counted == recorded else f" (counted: {counted[0]} and {counted[1]})"))
    near = sum(abs(error) <= 5 for error in errors)
    text += f"\n**Median error {statistics.median(map(abs, errors)):.1f} % of recordings there; {near} of {len(errors)} programs are within 5 %.**\n"
    text += "\nWhat is left: on the link between the clusters, messages of both directions compete, and TCP loses packets where its queue is full (CG and bucket sort; the case\n"
    text += "`backbone-both` of [Reality](reality.md#cases) has the same error). The model has neither losses nor acknowledgements.\n"
    text += "The other predictions are mostly too short. A probable cause, not measured apart, is that processes which wake up together wait for the two cores.\n"
    return text + f"\nMessages and bytes, equal to Open MPI's own count unless noted: {'; '.join(rows)}.\n"


def write(results, file):
    text = TITLE + pairs(results, "shared-memory") + pairs(results, "tcp")
    if any(key.startswith("hosts ") for key in results):
        text += hosts(results)
    text += counts(results)
    if any(key.startswith("many ") for key in results):
        text += many(results)
    file.write_text(text)
