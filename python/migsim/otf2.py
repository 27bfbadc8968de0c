"""Traces from OTF2 archives, which Score-P, TAU and Vampir write.

The command is `python -m migsim.otf2 traces.otf2 app.trace`. An archive becomes the same trace as `migsim record` would make of the program: time between MPI calls is work, and collectives become messages. It needs
the package `otf2`. An archive says less than the recorder knows. What cannot be told from it is refused, with the rank and the event:

- one-sided communication, and events of MPI that are not listed here;
- the parts of an all-to-all of unequal parts, of which an archive has the sum alone;
- whether a collective was called with `MPI_IN_PLACE`, where the sizes allow both: `--in-place never` or `--in-place always` decides it.

Sizes of collectives are those of Score-P: each process counts what it sends to all members, itself included unless `MPI_IN_PLACE` is given.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _core
from ._errors import Error


class Refused(Exception):
    """An archive, or an event of it, that cannot become a trace."""


@dataclass
class Collective:
    """A collective as one process has it: what it sent and received, its own part included \\[B\\]."""

    kind: str
    root: int
    sent: int
    received: int
    where: str


@dataclass
class Process:
    """The lines of the record of a process, and what is open."""

    rank: int
    lines: list[str] = field(default_factory=list)
    # Collectives of each communicator, in the order in which they begin, with the place of their line.
    collectives: dict[int, list[tuple[int, Collective]]] = field(default_factory=dict)
    posted: int = 0
    receives: dict[int, int] = field(default_factory=dict)
    requests: dict[Any, tuple[int, int]] = field(default_factory=dict)
    begun: int = 0
    events: int = 0
    depth: int = 0
    # When the last call of MPI was left; none before MPI_Init and behind MPI_Finalize.
    left: int | None = None
    has_init: bool = False


# The record's name of each collective of OTF2; none for those without messages.
KINDS: dict[str, str | None] = {
    **{name: name.lower() for name in ("BARRIER", "BCAST", "GATHER", "SCATTER", "ALLGATHER", "ALLTOALL", "ALLREDUCE", "REDUCE", "REDUCE_SCATTER", "SCAN")},
    **{"GATHERV": "gather", "SCATTERV": "scatter", "ALLGATHERV": "allgather", "REDUCE_SCATTER_BLOCK": "reduce_scatter", "EXSCAN": "scan"},
    **{"CREATE_HANDLE": None, "DESTROY_HANDLE": None},
}
# Events that say nothing of messages.
OTHERS = {"MpiIsendComplete", "MpiRequestTest", "MpiProbe", "MpiCollectiveBegin"}


def split(kind: str, parts: list[Collective], in_place: str | None) -> list[int]:
    """Returns the part of each member of a collective \\[B\\]: what it sends to each other member, or what it gets of the root.

    `parts` are the members' own sizes, in the order of the communicator.
    """
    count = len(parts)
    sent, received = [one.sent for one in parts], [one.received for one in parts]
    if count == 1 or kind == "barrier":
        return [0] * count
    if kind in ("gather", "reduce"):
        return [0 if place == one.root else one.sent for place, one in enumerate(parts)]
    if kind in ("bcast", "scatter"):
        return [0 if place == one.root else one.received for place, one in enumerate(parts)]

    given, taken = (received, sent) if kind == "reduce_scatter" else (sent, received)
    found = []
    # Readings without and with `MPI_IN_PLACE` that agree with all sizes.
    for own in (1, 0):
        others = count - 1 + own
        if kind == "scan":
            # The first member receives its own part, or nothing; the last one sends its own, or nothing.
            sizes = [(s + r) // (others + own) for s, r in zip(sent, received)]
            expected = [((others - at) * size, (at + own) * size) for at, size in enumerate(sizes)]
        else:
            sizes = [total // others for total in given]
            expected = [(others * size, sum(sizes) - (1 - own) * size) for size in sizes]
        may_differ = kind in ("scan", "allgather", "reduce_scatter")
        if expected == list(zip(given, taken)) and (may_differ or len(set(sizes)) == 1):
            found.append(sizes)
    if not found:
        raise Refused(f"{parts[0].where}: the sizes of the members of this {kind} do not agree")
    if len(found) == 1 or found[0] == found[1]:
        return found[0]
    if in_place is None:
        hint = "say it with `--in-place never` or `--in-place always`"
        raise Refused(f"{parts[0].where}: whether this {kind} was called with `MPI_IN_PLACE` cannot be told from its sizes\n  hint: {hint}")
    return found[in_place == "always"]


class Reader:
    """Reads the events of an archive into records."""

    def __init__(self, archive: Any, in_place: str | None) -> None:
        import otf2

        self.otf2 = otf2
        self.in_place = in_place
        definitions = archive.definitions
        mpi = otf2.Paradigm.MPI
        worlds = [one for one in definitions.groups if one.group_type == otf2.GroupType.COMM_LOCATIONS and one.paradigm == mpi]
        if not worlds:
            raise Refused("the archive has no processes of MPI")
        self.world = list(worlds[0].members)
        self.rank = {location: rank for rank, location in enumerate(self.world)}
        self.processes = [Process(rank) for rank in range(len(self.world))]
        self.nanoseconds = 1e9 / definitions.clock_properties.timer_resolution
        self.groups: dict[Any, int] = {}
        for location, event in archive.events:
            rank = self.rank.get(location)
            if rank is not None:
                self.take(self.processes[rank], event)
            elif type(event).__name__.startswith(("Mpi", "NonBlockingCollective")):
                raise Refused(f"location `{location.name}`: `{type(event).__name__}` of a second thread cannot be cut into supersteps")

    def where(self, process: Process, event: Any) -> str:
        return f"rank {process.rank}, event {process.events}, `{type(event).__name__}`"

    def take(self, process: Process, event: Any) -> None:
        """Takes an event of a process."""
        process.events += 1
        name = type(event).__name__
        if process.depth == 0 and name.startswith(("Mpi", "NonBlockingCollective")):
            raise Refused(f"{self.where(process, event)} is in no region of MPI: computation cannot be told from waiting")
        if name in ("Enter", "Leave"):
            self.call(process, event, name == "Enter")
        elif name == "BufferFlush" and process.left is not None:
            process.left += event.stop_time - event.time
        elif name == "MeasurementOnOff":
            raise Refused(f"{self.where(process, event)}: what happened while the recording was off is not known")
        elif name in ("MpiSend", "MpiIsend", "MpiRecv") and self.is_self(event.communicator):
            process.posted += name == "MpiRecv"  # a message to itself is none
        elif name in ("MpiSend", "MpiIsend"):
            process.lines.append(f"s {self.peer(process, event, event.receiver)} {event.msg_tag} {event.msg_length}")
        elif name == "MpiIrecvRequest":
            process.receives[event.request_id] = process.posted
            process.posted += 1
        elif name == "MpiRequestCancelled":
            process.receives.pop(event.request_id, None)
        elif name == "MpiIrecv" and self.is_self(event.communicator):
            process.receives.pop(event.request_id, None)
        elif name in ("MpiRecv", "MpiIrecv"):
            sender = self.peer(process, event, event.sender)
            posted = process.receives.pop(event.request_id, None) if name == "MpiIrecv" else process.posted
            process.posted += name == "MpiRecv"
            if posted is None:
                raise Refused(f"{self.where(process, event)}: its request {event.request_id} is not known")
            process.lines.append(f"r {posted} {sender} {event.msg_tag}")
        elif name == "NonBlockingCollectiveRequest":
            # The line is written when the collective is complete: only then is it known.
            process.requests[event.request_id] = (process.begun, len(process.lines))
            process.begun += 1
            process.lines.append("")
        elif name in ("MpiCollectiveEnd", "NonBlockingCollectiveComplete"):
            self.collective(process, event)
        elif name.startswith(("Mpi", "Rma")) and name not in OTHERS:
            raise Refused(f"{self.where(process, event)} cannot be cut into supersteps")

    def call(self, process: Process, event: Any, enters: bool) -> None:
        """Enters or leaves a region; what passes between two calls of MPI is work, and so is the time to read and write files."""
        region = event.region
        if region.name.startswith("MPI_File_"):
            return
        if region.paradigm != self.otf2.Paradigm.MPI and not region.name.startswith("MPI_"):
            if process.left is None and not process.has_init:
                process.left = event.time
            return
        process.depth += 1 if enters else -1
        if enters and process.depth == 1 and process.left is not None:
            work = round((event.time - process.left) * self.nanoseconds)
            process.lines += [f"w {work}"] if work > 0 else []
        if region.name in ("MPI_Init", "MPI_Init_thread"):
            process.lines.clear()
            process.has_init = True
        if enters and region.name == "MPI_Finalize":
            process.left = None
        elif not enters and process.depth == 0 and region.name != "MPI_Finalize":
            process.left = event.time

    def group(self, communicator: Any) -> tuple[int, list[int]]:
        """Returns the number of a communicator and the ranks of its members in the world."""
        members = getattr(communicator, "group", None)
        if members is None:
            raise Refused(f"the communicator `{communicator.name}` has two groups, which cannot be cut into supersteps")
        number = self.groups.setdefault(communicator, 2 + len(self.groups))
        return number, [self.rank[location] for location in members.members]

    def is_self(self, communicator: Any) -> bool:
        """Whether a communicator has one process alone."""
        group = getattr(communicator, "group", None)
        return group is not None and group.group_type == self.otf2.GroupType.COMM_SELF

    def peer(self, process: Process, event: Any, place: int) -> str:
        """Returns the number of the communicator and the rank of its member in the world, as a record has them."""
        group, members = self.group(event.communicator)
        if not 0 <= place < len(members):
            raise Refused(f"{self.where(process, event)}: the communicator has no member {place}")
        return f"{group} {members[place]}"

    def collective(self, process: Process, event: Any) -> None:
        """A collective ends; its line is written when those of all members are known."""
        name = str(event.collective_op).rpartition(".")[2]
        where = self.where(process, event)
        request = getattr(event, "request_id", None)
        if self.is_self(event.communicator):
            process.requests.pop(request, None)
            return
        if name not in KINDS:
            why = "an archive has the sum of its parts alone" if name.startswith("ALLTOALL") else "it is not known"
            raise Refused(f"{where}: the collective `{name}` cannot be cut into messages: {why}")
        kind = KINDS[name]
        if request is None:
            number, place = process.begun, len(process.lines)
            process.begun += 1
            process.lines.append("")
        elif request in process.requests:
            number, place = process.requests.pop(request)
        else:
            raise Refused(f"{where}: its request {request} is not known")
        if kind is None:
            return
        group, members = self.group(event.communicator)
        root = event.root if event.root < len(members) else 0
        one = Collective(kind, root, event.size_sent, event.size_received, where)
        process.collectives.setdefault(group, []).append((place, one))
        # The number of the line stands there until the sizes are known.
        process.lines[place] = f"{number}"
        process.lines.append(f"e {number}")

    def records(self) -> list[str]:
        """Returns the record of each process."""
        members = {number: [self.rank[one] for one in communicator.group.members] for communicator, number in self.groups.items()}
        for group, ranks in members.items():
            # A request may be complete before an earlier one: the order is that of the begins.
            lists = [sorted(self.processes[rank].collectives.get(group, []), key=lambda pair: pair[0]) for rank in ranks]
            if len({len(one) for one in lists}) > 1:
                raise Refused(f"the members of communicator {group} call it for different numbers of collectives")
            for calls in zip(*lists):
                self.write(group, ranks, list(calls))
        size = len(self.processes)
        heads = [f"g {number} {len(ranks)} {' '.join(map(str, ranks))}" for number, ranks in members.items()]
        texts = []
        for process, location in zip(self.processes, self.world):
            if process.requests:
                raise Refused(f"rank {process.rank}: {len(process.requests)} collectives have no end")
            host = getattr(location.group.system_tree_parent, "name", "")
            lines = [f"migsim-record 1 {process.rank} {size}", f"i host {host}"]
            lines += [head for head, ranks in zip(heads, members.values()) if process.rank in ranks]
            texts.append("\n".join([*lines, *filter(None, process.lines), "end", ""]))
        return texts

    def write(self, group: int, ranks: list[int], calls: list[tuple[int, Collective]]) -> None:
        """Writes the lines of a collective for all its members."""
        parts = [one for _, one in calls]
        first = parts[0]
        if any((one.kind, one.root) != (first.kind, first.root) for one in parts):
            raise Refused(f"{first.where}: the members call different collectives at the same time, `{first.kind}` and others")
        sizes = split(first.kind, parts, self.in_place)
        for own, (rank, (place, one)) in enumerate(zip(ranks, calls)):
            lines = self.processes[rank].lines
            size, more = sizes[own], [0]
            if one.kind == "bcast":
                size = max(sizes)
            elif one.kind in ("allgather", "reduce_scatter") or (one.kind == "scatter" and own == one.root):
                size, more = 0, [len(ranks), *sizes]
            lines[place] = f"c {one.kind} {group} {one.root} {lines[place]} {size} {' '.join(map(str, more))}"


def convert(archive: str, out: str, speed: str | None = None, in_place: str | None = None) -> str:
    """Writes the trace of an OTF2 archive into the file `out`; returns what `migsim record --from` says of it.

    `speed` is that of the recording hosts, such as `"2.5 GHz"`: work is time x speed. `in_place` is `"never"` or `"always"`.
    """
    import otf2

    # The library itself writes what is wrong to file 2, in many lines: the first one is the reason.
    kept = os.dup(2)
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)
        try:
            with otf2.reader.open(archive) as opened:
                records = Reader(opened, in_place).records()
        except Refused:
            raise
        except Exception as error:  # the package has many kinds of exceptions
            said.seek(0)
            first = said.readline().decode(errors="replace").partition("error: ")[2]
            why = " ".join((first or str(error) or type(error).__name__).split())
            raise Refused(f"cannot read the archive `{archive}`: {why}\n  hint: name a complete file `traces.otf2`, with its folder `traces` beside it") from error
        finally:
            os.dup2(kept, 2)
            os.close(kept)
    with tempfile.TemporaryDirectory() as folder:
        for rank, record in enumerate(records):
            Path(folder, f"{rank}-0.record").write_text(record)
        flags = ["--speed", speed] if speed else []
        try:
            return _core.command(["migsim", "record", "--from", folder, "--out", out, *flags])[1]
        except Error as error:
            raise Refused(str(error).removeprefix("error: ").strip()) from error


def main() -> None:
    """Runs the command line of this process."""
    parser = argparse.ArgumentParser(prog="python -m migsim.otf2", description="Write an OTF2 archive as a trace.")
    parser.add_argument("archive", help="the archive: traces.otf2")
    parser.add_argument("out", help="the trace to write: app.trace")
    parser.add_argument("--speed", help="the speed of the recording hosts, such as 2.5GHz: work is time x speed")
    parser.add_argument("--in-place", choices=["never", "always"], help="whether collectives had MPI_IN_PLACE, where sizes do not tell")
    arguments = parser.parse_args()
    try:
        print(convert(arguments.archive, arguments.out, arguments.speed, arguments.in_place), end="")
    except Refused as refused:
        sys.exit(f"error: {refused}")
    except ModuleNotFoundError as missing:
        sys.exit(f"error: {missing}\n  hint: install the package `otf2`")


if __name__ == "__main__":
    main()
