"""Archives that OTF2's own writer makes become the traces that the recorder's records become."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from migsim import _core
from migsim.otf2 import Collective, Refused, convert, split

otf2 = pytest.importorskip("otf2")

# Records of four processes: messages that complete out of order, a sub-communicator, and collectives, one of them with a request.
WORLD, EVEN = "g 0 4 0 1 2 3", "g 2 2 0 2"
RECORDS = [
    [WORLD, EVEN, "w 30000", "s 0 1 7 5000", "r 0 0 3 7", "c bcast 0 1 0 800 0", "e 0", "w 20000", "c allreduce 0 0 1 24 0", "e 1",
     "c allgather 0 0 2 0 4 8 16 24 32", "e 2", "w 40000", "c barrier 2 0 3 0 0", "e 3", "c gather 0 2 4 64 0", "e 4"],
    [WORLD, "s 0 2 7 6000", "w 50000", "r 1 0 2 9", "r 0 0 0 7", "c bcast 0 1 0 800 0", "e 0", "c allreduce 0 0 1 24 0", "w 15000", "e 1",
     "c allgather 0 0 2 0 4 8 16 24 32", "e 2", "c gather 0 2 3 128 0", "e 3", "w 1000000"],
    [WORLD, EVEN, "w 60000", "s 0 1 9 70", "s 0 3 7 7000", "r 0 0 1 7", "c bcast 0 1 0 800 0", "e 0", "c allreduce 0 0 1 24 0", "e 1",
     "c allgather 0 0 2 0 4 8 16 24 32", "e 2", "c barrier 2 0 3 0 0", "e 3", "c gather 0 2 4 0 0", "e 4"],
    [WORLD, "w 12345", "s 0 0 7 8000", "r 0 0 2 7", "c bcast 0 1 0 800 0", "e 0", "c allreduce 0 0 1 24 0", "e 1",
     "c allgather 0 0 2 0 4 8 16 24 32", "e 2", "c gather 0 2 3 256 0", "e 3"],
]


def sizes(kind: str, root: int, me: int, size: int, parts: list[int], count: int) -> tuple[int, int]:
    """What Score-P counts as sent and received."""
    if kind == "bcast":
        return (count * size if me == root else 0), size
    if kind == "allreduce":
        return count * size, count * size
    if kind == "allgather":
        return count * parts[me], sum(parts)
    if kind == "gather":
        # The root has its own part, too; here all parts but that are in the records.
        return size, 0
    return 0, 0


def write(records: list[list[str]], folder: Path) -> str:
    """Writes records as an archive, a call of MPI for each event."""
    with otf2.writer.open(str(folder / "archive"), timer_resolution=10**9) as archive:
        define = archive.definitions
        node = define.system_tree_node("node", parent=None)
        groups = [define.location_group(f"rank {rank}", system_tree_parent=node) for rank in range(len(records))]
        places = [define.location("main", group=group) for group in groups]
        regions = {name: define.region(name, paradigm=otf2.Paradigm.MPI) for name in ["MPI_Init", "MPI_Call", "MPI_File_read", "MPI_Finalize"]}
        world = define.group("world", group_type=otf2.GroupType.COMM_LOCATIONS, paradigm=otf2.Paradigm.MPI, members=places)
        comms: dict[int, Any] = {}
        for line in [WORLD, EVEN]:
            _, number, _, *members = map(str, line.split())
            chosen = [places[int(member)] for member in members]
            group = define.group(number, group_type=otf2.GroupType.COMM_GROUP, paradigm=otf2.Paradigm.MPI, members=chosen)
            comms[int(number)] = define.comm(number, group=group)
        assert world.members == tuple(places)
        for rank, lines in enumerate(records):
            write_process(archive, places[rank], lines, rank, regions, comms)
    return str(folder / "archive" / "traces.otf2")


def write_process(archive: Any, place: Any, lines: list[str], rank: int, regions: dict[str, Any], comms: dict[int, Any]) -> None:
    """Writes the events of a process."""
    writer = archive.event_writer_from_location(place)
    now = 1000
    writer.enter(now, regions["MPI_Init"])
    now += 500
    writer.leave(now, regions["MPI_Init"])
    # The record has the number of each receive: a request for each comes first, those of blocking calls too.
    receives = sorted(int(line.split()[1]) for line in lines if line.startswith("r "))
    begun: dict[int, tuple[Any, ...]] = {}
    writer.enter(now, regions["MPI_Call"])
    for number in receives:
        writer.mpi_irecv_request(now, number)
    writer.leave(now, regions["MPI_Call"])
    for at, line in enumerate(lines):
        kind, *words = line.split()
        if kind == "w":
            now += int(words[0])
            continue
        if kind == "f":
            writer.enter(now, regions["MPI_File_read"])
            now += int(words[0])
            writer.leave(now, regions["MPI_File_read"])
            continue
        if kind == "g":
            continue
        writer.enter(now, regions["MPI_Call"])
        now += 100
        if kind == "s":
            comm = comms[int(words[0])]
            writer.mpi_send(now, comm.group.members.index(archive_place(archive, int(words[1]))), comm, int(words[2]), int(words[3]))
        elif kind == "r":
            comm = comms[int(words[1])]
            sender = comm.group.members.index(archive_place(archive, int(words[2])))
            writer.mpi_irecv(now, sender, comm, int(words[3]), 0, int(words[0]))
        elif kind == "c":
            name, number = words[0], int(words[3])
            comm, root, size = comms[int(words[1])], int(words[2]), int(words[4])
            me = comm.group.members.index(place)
            parts = [int(word) for word in words[6:]]
            sent, received = sizes(name, root, me, size, parts, len(comm.group.members))
            begun[number] = (getattr(otf2.CollectiveOp, name.upper()), comm, root, sent, received)
            if lines[at + 1] != f"e {number}":
                writer.non_blocking_collective_request(now, 100 + number)
        elif lines[at - 1].startswith("c "):
            writer.mpi_collective_end(now, *begun[int(words[0])])
        else:
            writer.non_blocking_collective_complete(now, *begun[int(words[0])], 100 + int(words[0]))
        writer.leave(now, regions["MPI_Call"])
    writer.enter(now, regions["MPI_Finalize"])
    writer.leave(now + 10**9, regions["MPI_Finalize"])


def archive_place(archive: Any, rank: int) -> Any:
    return list(archive.definitions.locations)[rank]


def lines_of(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if not line.startswith("recorded ")]


def test_an_archive_becomes_the_trace_of_the_same_records(tmp_path: Path) -> None:
    records = tmp_path / "records"
    records.mkdir()
    for rank, lines in enumerate(RECORDS):
        text = "\n".join([f"migsim-record 1 {rank} 4", *lines, "end", ""])
        (records / f"{rank}-0.record").write_text(text)
    expected, found = tmp_path / "expected.trace", tmp_path / "found.trace"
    flags = ["--from", str(records), "--out", str(expected), "--speed", "2GHz"]
    code, _, errors = _core.command(["migsim", "record", *flags])
    assert code == 0, errors
    said = convert(write(RECORDS, tmp_path), str(found), speed="2GHz", in_place="never")
    assert "4 processes" in said
    assert lines_of(found) == lines_of(expected)
    # 4 messages and one more, 3 of the broadcast, 8 of the allreduce, 8 of the allgather, 2 of the barrier of two, 3 of the gather.
    assert sum(line.startswith("m ") for line in lines_of(found)) == 5 + 3 + 8 + 8 + 2 + 3


def test_what_cannot_be_told_is_refused_with_rank_and_event(tmp_path: Path) -> None:
    def refusal(*events: str) -> str:
        records = [[WORLD, *events] for _ in range(4)]
        with pytest.raises(Refused) as refused:
            convert(write(records, tmp_path), str(tmp_path / "none.trace"))
        assert not (tmp_path / "none.trace").exists()
        return str(refused.value)

    # 12 bytes to each of 4 are 48, as are 16 to each of the 3 others.
    told = refusal("c allreduce 0 0 0 12 0", "e 0")
    assert told.startswith("rank 0, event 8, `MpiCollectiveEnd`: whether this allreduce was called with `MPI_IN_PLACE`"), told
    assert "hint: say it with `--in-place never`" in told


def test_an_all_to_all_of_unequal_parts_is_refused(tmp_path: Path) -> None:
    records = [[WORLD, "c alltoallv 0 0 0 0 0", "e 0"] for _ in range(4)]
    with pytest.raises(Refused, match="rank 0, event 8, .*`ALLTOALLV`.*the sum of its parts alone"):
        convert(write(records, tmp_path), str(tmp_path / "none.trace"))


def test_messages_outside_of_all_calls_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("migsim.otf2.Reader.call", lambda *_: None)
    with pytest.raises(Refused, match="rank 0, event 4, `MpiIrecvRequest` is in no region of MPI"):
        convert(write(RECORDS, tmp_path), str(tmp_path / "none.trace"))


def parts(kind: str, *both: tuple[int, int]) -> list[Collective]:
    return [Collective(kind, 0, sent, received, "here") for sent, received in both]


def test_the_sizes_of_score_p_tell_the_parts() -> None:
    # Three members with 8, 16 and 24 bytes, then the same in place.
    assert split("allgather", parts("allgather", (24, 48), (48, 48), (72, 48)), None) == [8, 16, 24]
    assert split("allgather", parts("allgather", (16, 40), (32, 32), (48, 24)), None) == [8, 16, 24]
    assert split("reduce_scatter", parts("reduce_scatter", (48, 24), (48, 48), (48, 72)), None) == [8, 16, 24]
    assert split("reduce_scatter", parts("reduce_scatter", (40, 16), (32, 32), (24, 48)), None) == [8, 16, 24]
    assert split("scan", parts("scan", (24, 8), (16, 16), (8, 24)), None) == [8, 8, 8]
    assert split("scan", parts("scan", (16, 0), (8, 8), (0, 16)), None) == [8, 8, 8]
    assert split("allreduce", parts("allreduce", (16, 16), (16, 16), (16, 16)), None) == [8, 8, 8]
    both = parts("alltoall", (24, 24), (24, 24), (24, 24))
    assert split("alltoall", both, "never") == [8, 8, 8]
    assert split("alltoall", both, "always") == [12, 12, 12]
    with pytest.raises(Refused, match="do not agree"):
        split("allreduce", parts("allreduce", (16, 16), (8, 8), (16, 16)), None)


def test_time_in_files_is_work(tmp_path: Path) -> None:
    """1 ms of computation, 4 ms in MPI-IO and 2 ms of computation are 7 ms of work, as `migsim record` counts them."""
    found = tmp_path / "io.trace"
    convert(write([[WORLD, "w 1000000", "f 4000000", "w 2000000", "s 0 1 7 8"], [WORLD, "r 0 0 0 7"], [WORLD], [WORLD]], tmp_path), str(found), speed="1GHz")
    assert "\nc 0 7000000\n" in found.read_text()


@pytest.mark.parametrize("damage", ["missing", "folder", "no events", "cut events", "cut anchor", "cut definitions"])
def test_damaged_archives_are_one_error(damage: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    anchor = Path(write(RECORDS, tmp_path))
    name = {"missing": "none.otf2", "folder": "."}.get(damage, anchor.name)
    if damage == "no events":
        (anchor.parent / "traces" / "1.evt").unlink()
    cut = {"cut events": "traces/1.evt", "cut anchor": "traces.otf2", "cut definitions": "traces.def"}
    if damage in cut:
        path = anchor.parent / cut[damage]
        path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(Refused, match="cannot read the archive"):
        convert(str(anchor.parent / name), str(tmp_path / "none.trace"), speed="1GHz", in_place="never")
    assert capfd.readouterr().err == ""
