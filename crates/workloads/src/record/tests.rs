//! Tests of recordings: their division into supersteps, repetitions and errors.

use super::*;
use crate::{Workload, trace::Trace};

const SENDER: &str =
    "migsim-record 1 0 2\ng 0 2 0 1\nw 1000000\ns 0 1 5 800\nw 2000000\nm 4096\no 90\nend\n";
const RECEIVER: &str = "migsim-record 1 1 2\ng 0 2 0 1\nr 0 0 0 5\nw 3000000\nend\n";

/// Converts times in nanoseconds into as many instructions.
fn in_ghz() -> WorkConversion<'static> {
    WorkConversion {
        core_speed: InstructionsPerSecond::new(1e9),
        clock_name: "wall",
        region: None,
        takes_median: false,
    }
}

fn converted(texts: &[&str]) -> Result<ConvertedTrace, Error> {
    let names = texts.iter().enumerate();
    let records: Vec<_> = names
        .map(|(at, text)| (format!("{at}.record"), (*text).to_owned()))
        .collect();
    convert_to_trace(&[records], in_ghz())
}

#[test]
fn a_message_arrives_a_superstep_later() {
    let made = converted(&[SENDER, RECEIVER]).unwrap();
    assert_eq!(
        made.trace_text,
        "migsim-trace 2\nprocesses 2\nrecorded ranks 2\nrecorded speed 1GHz\nrecorded clock wall\n\
         recorded cost 90ns\nrecorded repetitions 1\nmemory 0 4096B\nruntime barrier.kind none\n\
         step 0\nc 0 1000000\nm 0 1 800\nstep 1\nc 0 2000000\nc 1 3000000\nend\n"
    );
    let trace = Trace::parse("made", &made.trace_text).unwrap();
    assert_eq!(
        (
            trace.supersteps(),
            made.message_count,
            made.recorder_overhead_ns
        ),
        (2, 1, 90)
    );
}

#[test]
fn receives_match_in_the_order_of_posting() {
    // The receive that was posted second completes first; it still receives the second message.
    let sender = "migsim-record 1 0 2\ng 0 2 0 1\ns 0 1 5 1\nw 900000\ns 0 1 5 2\nend\n";
    let receiver = "migsim-record 1 1 2\ng 0 2 0 1\nr 1 0 0 5\nw 500000\nr 0 0 0 5\nend\n";
    let made = converted(&[sender, receiver]).unwrap();
    assert!(
        made.trace_text.contains("step 2\nc 1 500000\n"),
        "{}",
        made.trace_text
    );
}

#[test]
fn neighbours_exchange_at_once_and_their_messages_match_by_collective() {
    // In a ring of two, each process is both neighbours of the other. The second collective completes first.
    let two = |rank: usize, first: usize, then: usize| {
        let other = 1 - rank;
        format!(
            "migsim-record 1 {rank} 2\ng 0 2 0 1\nn 0 0 2 {other} 8 {other} 8 {other} {other}\n\
             n 0 1 1 {other} 9 {other}\ne {first}\nw 1000000\ne {then}\nend\n"
        )
    };
    let made = converted(&[&two(0, 0, 1), &two(1, 0, 1)]).unwrap();
    assert_eq!((made.superstep_count, made.message_count), (3, 6));
    assert!(
        made.trace_text
            .contains("m 0 1 8\nm 0 1 8\nm 1 0 8\nm 1 0 8\n")
    );
    let made = converted(&[&two(0, 1, 0), &two(1, 1, 0)]).unwrap();
    assert!(
        made.trace_text.contains("step 0\nm 0 1 9\n"),
        "{}",
        made.trace_text
    );
    let wrong = "migsim-record 1 1 2\ng 0 2 0 1\nn 0 0 1 2 8\nend\n";
    let error = converted(&[SENDER, wrong]).unwrap_err().to_string();
    assert!(
        error.contains("the line names member 2, which the communicator does not have"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_cut_is_told_with_rank_and_call() {
    let error = |other: &str| converted(&[SENDER, other]).unwrap_err().to_string();
    let one_sided = error("migsim-record 1 1 2\ng 0 2 0 1\nx MPI_Win_create\nend\n");
    assert!(
        one_sided.contains("rank 1 calls `MPI_Win_create`"),
        "{one_sided}"
    );
    assert!(
        one_sided.ends_with(
            "--> rank 1\n  hint: change the program to messages or collectives instead of one-sided communication"
        ),
        "{one_sided}"
    );
    let thread = error("migsim-record 1 1 2\ng 0 2 0 1\nx MPI_Send from a second thread\nend\n");
    assert!(
        thread.contains("rank 1 calls `MPI_Send` from a second thread, which cannot")
            && thread.contains("hint: change the program so that one thread"),
        "{thread}"
    );
    let damaged = error("migsim-record 1 1 2\nz 0 2 0 1\nend\n");
    assert!(
        damaged.ends_with(
            "--> 1.record:2:1\n  hint: record the program again, since this line is not one that the recorder has written"
        ),
        "{damaged}"
    );
    let spawn = error("migsim-record 1 1 2\ng 0 2 0 1\nx MPI_Comm_spawn\nend\n");
    assert!(
        spawn.contains("rank 1 calls `MPI_Comm_spawn`, which starts processes"),
        "{spawn}"
    );
    let unsent = error("migsim-record 1 1 2\ng 0 2 0 1\nr 0 0 0 6\nend\n");
    assert!(unsent.contains("rank 1 waits"), "{unsent}");
}

#[test]
fn records_of_processes_that_the_program_starts_replace_none_of_its_own() {
    let child = "migsim-record 1 0 1 started\ng 0 1 0\nx MPI_Bcast\nend\n";
    let error = converted(&[SENDER, RECEIVER, child]).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("the program starts processes"), "{error}");
    let parent = "migsim-record 1 1 2\ng 0 2 0 1\nx MPI_Comm_spawn\nend\n";
    let error = converted(&[SENDER, parent, child]).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("rank 1 calls `MPI_Comm_spawn`"), "{error}");
    assert_eq!(error.matches("error: ").count(), 1, "{error}");
}

#[test]
fn several_programs_are_refused() {
    let other = "migsim-record 1 0 1\ng 0 1 0\n";
    let error = converted(&[SENDER, RECEIVER, other]).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("the command ran 2 MPI programs"), "{error}");
}

#[test]
fn every_cut_and_every_wrong_byte_is_refused_or_read_without_a_panic() {
    let collective = "migsim-record 1 1 2\ng 0 2 0 1\nc alltoall 0 0 0 0 2 3 4\ne 0\nn 0 1 1 0 8\nr 0 0 0 5\nend\n";
    for text in [RECEIVER, collective] {
        for at in 0..text.len() {
            let whole = at + 1 == text.len();
            assert!(converted(&[SENDER, &text[..at]]).is_err() || whole, "{at}");
            for byte in ["9", "-", "x", " ", "\n"] {
                let _ = converted(&[SENDER, &format!("{}{byte}{}", &text[..at], &text[at + 1..])]);
            }
        }
    }
}

fn run(texts: [&str; 2]) -> RecordTexts {
    let names = texts.iter().enumerate();
    names
        .map(|(at, text)| (format!("{at}.record"), (*text).to_owned()))
        .collect()
}

#[test]
fn the_least_work_of_each_piece_is_taken() {
    // Pieces of rank 0: 1 and 2 ms, then 3 and 1 ms; the minimum is 1 and 1 ms. Rank 1: 3 ms, then 1 + 3 ms in two parts.
    let again = SENDER
        .replace("w 1000000", "w 3000000")
        .replace("w 2000000", "w 1000000");
    let late = RECEIVER.replace("w 3000000", "w 1000000\nw 3000000");
    let made =
        convert_to_trace(&[run([SENDER, RECEIVER]), run([&again, &late])], in_ghz()).unwrap();
    assert!(made.trace_text.contains("recorded repetitions 2\n"));
    assert!(
        made.trace_text
            .ends_with("step 0\nc 0 1000000\nm 0 1 800\nstep 1\nc 0 1000000\nc 1 3000000\nend\n"),
        "{}",
        made.trace_text
    );
    let spread = made.work_variations[0];
    assert_eq!(
        (
            spread.combined_work_ns,
            spread.min_work_ns,
            spread.max_work_ns
        ),
        (2_000_000, 3_000_000, 4_000_000)
    );
    let spread = made.work_variations[1];
    assert_eq!(
        (
            spread.combined_work_ns,
            spread.min_work_ns,
            spread.max_work_ns
        ),
        (3_000_000, 3_000_000, 4_000_000)
    );
}

#[test]
fn the_median_work_of_each_piece_is_taken_if_it_is_asked_for() {
    // Pieces of rank 0: 1, 3 and 4 ms, then 2, 9 and 2 ms.
    let runs = [
        ("1000000", "2000000"),
        ("3000000", "9000000"),
        ("4000000", "2000000"),
    ]
    .map(|(first, second)| {
        let sender = SENDER.replace("w 1000000", &format!("w {first}"));
        let sender = sender.replace("w 2000000", &format!("w {second}"));
        run([&sender, RECEIVER])
    });
    let measure = WorkConversion {
        takes_median: true,
        ..in_ghz()
    };
    let made = convert_to_trace(&runs, measure).unwrap();
    assert!(
        made.trace_text
            .contains("recorded repetitions 3\nrecorded piece median\n")
    );
    let steps = "step 0\nc 0 3000000\nm 0 1 800\nstep 1\nc 0 2000000\nc 1 3000000\nend\n";
    assert!(made.trace_text.ends_with(steps), "{}", made.trace_text);
}

#[test]
fn receives_may_complete_in_another_order_in_each_run() {
    let sender = |rank: u32| format!("migsim-record 1 {rank} 3\ng 0 3 0 1 2\ns 0 2 5 8\nend\n");
    let receiver = |[first, second]: [u32; 2], work: u32| {
        let posted = "migsim-record 1 2 3\ng 0 3 0 1 2\n";
        format!("{posted}r {first} 0 {first} 5\nw {work}\nr {second} 0 {second} 5\nw 70000\nend\n")
    };
    let run = |order: [u32; 2], work: u32| -> RecordTexts {
        [sender(0), sender(1), receiver(order, work)]
            .into_iter()
            .enumerate()
            .map(|(at, text)| (format!("{at}.record"), text))
            .collect()
    };
    let once = convert_to_trace(&[run([0, 1], 20_000)], in_ghz()).unwrap();
    let both = convert_to_trace(&[run([0, 1], 30_000), run([1, 0], 20_000)], in_ghz()).unwrap();
    let steps = |made: &ConvertedTrace| made.trace_text.split_once("step 0").unwrap().1.to_owned();
    assert_eq!(steps(&once), steps(&both));
}

#[test]
fn runs_that_differ_are_refused_with_rank_and_event() {
    let error = |sender: &str, receiver: &str| {
        let runs = [run([SENDER, RECEIVER]), run([sender, receiver])];
        convert_to_trace(&runs, in_ghz()).unwrap_err().to_string()
    };
    let other = error(&SENDER.replace(" 800", " 801"), RECEIVER);
    let expected = "the run differs from the first run: rank 0 sends 801 B to rank 1 with tag 5 as its event number 1, but in the first run rank 0 sends 800 B to rank 1 with tag 5 (1 events, 1 in the first run)";
    assert!(
        other.contains(expected) && other.contains("--> repetition 2"),
        "{other}"
    );
    let more = error(&SENDER.replace("m 4096", "s 0 1 6 8\nm 4096"), RECEIVER);
    assert!(
        more.contains("the run differs from the first run: rank 0 sends 8 B to rank 1 with tag 6 as its event number 2, but in the first run rank 0 ends")
            && more.contains("hint: choose an input"),
        "{more}"
    );
    let again = error(&SENDER.replace("m 4096", "s 0 1 5 800\nm 4096"), RECEIVER);
    assert!(
        again.contains("(2 events, 1 in the first run)")
            && again.contains("chooses its repetitions by measured time"),
        "{again}"
    );
    let runs = [
        run([SENDER, RECEIVER]),
        vec![("0".into(), "migsim-record 1 0 1\nend\n".into())],
    ];
    let fewer = convert_to_trace(&runs, in_ghz()).unwrap_err().to_string();
    assert!(
        fewer.contains("the repetition has 1 process, but the first run has 2"),
        "{fewer}"
    );
}

#[test]
fn a_region_has_the_work_and_messages_between_its_marks() {
    // The first of three messages with one tag is sent before the region, the last one after it; rank 1 receives all three inside.
    let sender = "migsim-record 1 0 2\ng 0 2 0 1\nw 9000000\ns 0 1 5 1\np solve\nw 1000000\np part\ns 0 1 5 2\np\np\nw 7\ns 0 1 5 3\nend\n";
    let receiver = "migsim-record 1 1 2\ng 0 2 0 1\np solve\nr 0 0 0 5\nr 1 0 0 5\nw 2000000\nr 2 0 0 5\np\nw 5000\nend\n";
    let region = |name| {
        let runs = [run([sender, receiver])];
        convert_to_trace(
            &runs,
            WorkConversion {
                region: Some(name),
                ..in_ghz()
            },
        )
    };
    let made = region("solve").unwrap();
    assert!(
        made.trace_text.contains("recorded region solve\n")
            && made
                .trace_text
                .ends_with("step 0\nc 0 1000000\nm 0 1 2\nstep 1\nc 1 2000000\nend\n"),
        "{}",
        made.trace_text
    );
    assert_eq!(region("part").unwrap().message_count, 1);
    let error = region("slove").unwrap_err().to_string();
    assert!(
        error.contains("unknown region `slove`") && error.contains("solve"),
        "{error}"
    );
}

#[test]
fn the_messages_of_collectives_that_the_library_sent_are_messages_with_its_tags() {
    let record = |rank: usize, lines: &str| {
        format!(
            "migsim-record 1 {rank} 2\ng 0 2 0 1\ni collectives sent\n{lines}i threads {}\nend\n",
            4 - rank
        )
    };
    let made = converted(&[
        &record(0, "s 0 1 -16 0\nr 0 0 1 -16\n"),
        &record(1, "s 0 0 -16 0\nr 0 0 0 -16\n"),
    ]);
    let text = made.unwrap().trace_text;
    assert!(
        text.contains("recorded collectives sent\nrecorded threads 4\n")
            && text.ends_with("step 0\nm 0 1 0\nm 1 0 0\nstep 1\nend\n"),
        "{text}"
    );
    let error = converted(&[&record(0, "r 0 0 1 -16\n"), &record(1, "")]);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("message 1 of the library's tag -16 from rank 1"),
        "{error}"
    );
}

#[test]
fn a_non_blocking_collective_goes_on_while_its_process_waits_for_another_message() {
    // Rank 0 completes the collective before it sends its message; rank 1 receives this message before it completes the collective.
    let root = "migsim-record 1 0 2\ng 0 2 0 1\ns 0 1 -28 8\nb 0\nw 20000\nf 0\nr 0 0 1 -28\ne 0\ns 0 1 5 80\nend\n";
    let leaf = "migsim-record 1 1 2\ng 0 2 0 1\nb 0\nw 30000\nr 1 0 0 5\nw 40000\nf 0\nr 0 0 0 -28\ns 0 0 -28 16\ne 0\nend\n";
    let made = converted(&[root, leaf]).unwrap();
    let steps = "step 0\nc 1 30000\nm 0 1 8\nstep 1\nc 0 20000\nm 1 0 16\nstep 2\nm 0 1 80\nstep 3\nc 1 40000\nend\n";
    assert!(made.trace_text.ends_with(steps), "{}", made.trace_text);
    let error = converted(&[&root.replace("b 0\n", ""), leaf]).unwrap_err();
    assert!(
        error.to_string().contains("no earlier line begins"),
        "{error}"
    );
}

#[test]
fn the_fastest_measured_speed_counts_unless_another_one_is_given() {
    // Before and after the run of rank 0, and once for rank 1: two of three measurements were disturbed.
    let with_speed = SENDER.replace("end", "h 1770000000\nh 3624370265\nend");
    let receiver = RECEIVER.replace("end", "h 1900000000\nend");
    let runs = [run([&with_speed, &receiver])];
    let made = convert_to_trace(&runs, WorkConversion::default()).unwrap();
    assert!(made.is_speed_measured);
    assert!(
        made.trace_text
            .contains("recorded speed 3.62GHz\nrecorded speeds 1.77GHz-3.62GHz\n")
            && made.trace_text.contains("\nc 0 3620000\n"),
        "{}",
        made.trace_text
    );
    let made = convert_to_trace(&runs, in_ghz()).unwrap();
    assert!(made.trace_text.contains("recorded speed 1GHz\n"));
    let made = convert_to_trace(&[run([SENDER, RECEIVER])], WorkConversion::default()).unwrap();
    assert_eq!(
        (made.is_speed_measured, made.core_speed.get()),
        (false, 1e9)
    );
}
