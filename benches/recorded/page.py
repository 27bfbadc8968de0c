"""Writes results/recorded.md of the results that `run` has kept."""

import statistics

TITLE = """# Recorded programs on one computer: predicted and measured

Written by `benches/recorded/run page FOLDER`, which makes no run: `run pairs` and `run many` have measured. Seven programs ran with 2 processes on
the two cores of one virtual computer, under Open MPI 4.1.4. Each was measured five times and recorded five times, in turns. The time begins at
a barrier behind MPI_Init and ends at MPI_Finalize.

`migsim calibrate -- mpirun -np 2` measured the messages once for each transport. Each trace then ran on a platform of one host with two cores, whose speed is that of the
recording. No number was fitted to a program.

How to doubt this page:

- **The computer was not idle.** Other programs ran on it. The measured ones had a far larger share of the processor (the priority of their group was -20).
- **Two processes on two cores compete** for caches and memory. A recording contains that competition, so the prediction has it, too. Other hosts would have another one.
- **The C library keeps freed memory** (`MALLOC_TRIM_THRESHOLD_` and `MALLOC_MMAP_THRESHOLD_` of 1 GB), measured and recorded. By default it decides by the layout of the
  heap whether large arrays are new pages each time. The recorder changes that layout: `heat` over TCP then computes 38 % longer under it.
- **The bandwidth inside a host is not one number.** Calibrations of this computer found 2 or 9 GB/s, by what else it did. Messages of 4 MB that are not in a cache, as those
  of `bucket sort`, are slower than in a ping-pong.
- **One kind of computer, one MPI library.** Networks between hosts are on the page [Reality](reality.md).
"""

PAIRS = """
*Measured* and *predicted* name the median of five runs or recordings, and *least* the shortest run. *Least of pieces* and *median of pieces* are predictions of one trace, which
`migsim record --repeat 5` makes of five runs, without and with `--take median`. *Spread* is the difference between the longest and the shortest measured run, relative to the median.

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
    text += f"\n**Median error {middle[0]:.1f} % of single recordings, {middle[1]:.1f} % with the median of pieces, and {middle[2]:.1f} % of the least times.**\n"
    return text + PAIRS + "\n".join(rows) + "\n"


def counts(results):
    text = """
## Messages and bytes

A library of its own (`benches/recorded/count.c`) counts calls by PMPI and expands collectives by formulas. It shares no line with the recorder.

| program | processes | messages counted | messages recorded | bytes counted | bytes recorded |
|---|---|---|---|---|---|
"""
    for key, row in results.items():
        if "counted" in row and not key.startswith("tcp "):
            name, processes = (key.removeprefix("many "), 32) if key.startswith("many ") else (key.removeprefix("shared-memory "), 2)
            (messages, size), (found, bytes_found) = row["counted"], row["recorded"]
            text += f"| {name} | {processes} | {messages} | {found} | {size} | {bytes_found} |\n"
    return text


def many(results):
    text = """
## 32 processes on two cores

Programs whose processes do the same for any number of processes were recorded with 8 and with 32 processes, `--clock cpu` and `--repeat 3`. The table has the mean work of a process in seconds of the
core, and the process whose work is largest, relative to the mean.

| program | work with 8 [s] | work with 32 [s] | off [%] | largest of 32 [%] |
|---|---|---|---|---|
"""
    for key, row in results.items():
        if key.startswith("many "):
            few, all = statistics.mean(row["few"]), statistics.mean(row["many"])
            text += f"| {key.removeprefix('many ')} | {few:.4f} | {all:.4f} | {percent(all, few):+.1f} | {percent(max(row['many']), all):+.1f} |\n"
    return text


def extrapolated(results):
    text = """
## More processes than were recorded

`migsim trace extrapolate` made traces of 16 processes of recordings with 2, 4 and 8 (`--clock cpu --repeat 5`). A recording with 16 is beside them. Times are those of both
traces on 16 hosts on a switch of 1 Gbps, under `open-mpi`. Work is that of all processes, in seconds of the core.

| program | messages recorded | extrapolated | bytes off [%] | work recorded [s] | extrapolated [s] | off [%] | time recorded [s] | extrapolated [s] | off [%] |
|---|---|---|---|---|---|---|---|---|---|
"""
    for key, row in results.items():
        if key.startswith("extrapolated "):
            (recorded, made), (size, made_size) = row["messages"], row["bytes"]
            (work, made_work), (time, made_time) = row["work"], row["times"]
            text += f"| {key.removeprefix('extrapolated ')} | {recorded} | {made} | {percent(made_size, size):+.2f} "
            text += f"| {work:.4f} | {made_work:.4f} | {percent(made_work, work):+.1f} | {time:.4f} | {made_time:.4f} | {percent(made_time, time):+.1f} |\n"
    return text + "\nCoMD, HPCG and `heat` of mpi4py are refused: at some superstep their messages follow no known pattern.\n"


def write(results, file):
    text = TITLE + pairs(results, "shared-memory") + pairs(results, "tcp") + counts(results)
    if any(key.startswith("many ") for key in results):
        text += many(results)
    if any(key.startswith("extrapolated ") for key in results):
        text += extrapolated(results)
    file.write_text(text)
