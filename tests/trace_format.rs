//! The text format of traces: what is read, written and refused, and the places of errors.

use migsim::{
    error::Error,
    units::{Bytes, Instructions, ProcessId},
    workload::{
        Message, Plan, Workload,
        lu::{BlockSizes, Lu},
        trace::{Trace, TracePreamble},
    },
};
use proptest::prelude::*;

use crate::{
    fuzzing::traces::{hosts_of, runtime_of, written},
    lu::{counted, plan_of},
};

const LU_60: &str = include_str!("data/lu-60-2x3.trace");
const MOVES: &str = include_str!("data/moves.trace");
const SMALL: &str = "\
bsp 1 2 2
barrier ideal
recv early
host 0 alpha
host 1 bêta
step 0
c 0 10
m 0 1 8
step 1
g 1 alpha 100 0.5
end
";

const SECOND: &str = "\
migsim-trace 2
processes 2
memory 1 1.5MB
runtime sends sequential
step 0
c 0 2.5Ginstr
m 0 1 1.5
step 1
g 1 alpha 1KiB 5ms
end
";

/// Returns SMALL with its line `number` replaced.
fn with_line(number: usize, line: &str) -> String {
    line_of(SMALL, number, line)
}

/// Returns SECOND with its line `number` replaced.
fn with_line_of_second(number: usize, line: &str) -> String {
    line_of(SECOND, number, line)
}

fn line_of(text: &str, number: usize, line: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines[number - 1] = line;
    lines.join("\n")
}

/// Returns the first problem of a text, as `line:column message`; the text must have one.
fn first_problem(text: &str) -> String {
    let error = Trace::parse("t", text).expect_err(text);
    let Error::Input(problems) = error else {
        unreachable!("a text is an input");
    };
    assert!(
        problems
            .iter()
            .all(|problem| problem.hint.is_some() && problem.location.line_column.is_some())
    );
    let (line, column) = problems[0].location.line_column.expect("asserted above");
    format!("{line}:{column} {}", problems[0].message)
}

/// Sorts messages by sender and keeps the order of each sender's messages.
fn by_sender(mut plan: Plan) -> Plan {
    plan.messages.sort_by_key(|message| message.from);
    plan
}

#[test]
fn a_small_trace_is_read() {
    let trace = Trace::parse(
        "t",
        &SMALL.replace("recv early", "\n  # a comment\r\nrecv late # another"),
    )
    .unwrap();
    assert_eq!((trace.processes(), trace.supersteps()), (2, 2));
    let setting = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(
        runtime_of(&trace),
        [
            setting("barrier.kind", "ideal"),
            setting("receives", "late")
        ]
    );
    assert_eq!(trace.initial_host(ProcessId(1)), Some("bêta"));
    let plan = plan_of(&trace, 0);
    assert_eq!(
        plan.work.iter().map(|work| work.get()).collect::<Vec<_>>(),
        [10.0, 0.0]
    );
    let size = Bytes::new(8.0).unwrap();
    assert_eq!(
        plan.messages,
        [Message {
            from: ProcessId(0),
            to: ProcessId(1),
            size
        }]
    );
    assert_eq!(plan_of(&trace, 1).messages, []);
    assert!(trace.prescribed_moves(0).is_empty());
    let moves = trace.prescribed_moves(1);
    assert_eq!(
        (
            moves[0].process,
            moves[0].destination_host.as_str(),
            moves[0].transferred_bytes.get()
        ),
        (ProcessId(1), "alpha", 100.0)
    );
    // The memory of process 1 is 100 bytes; process 0 never moves.
    assert_eq!(memory_of(&trace), [None, Some(100.0)]);
}

/// Returns the memory of each process, if it is known [B].
fn memory_of(trace: &Trace) -> Vec<Option<f64>> {
    let memory = |process| {
        let process = ProcessId::from_index(process);
        let size = trace.memory(process).get();
        trace.is_memory_known(process).then_some(size)
    };
    (0..trace.processes()).map(memory).collect()
}

#[test]
fn a_trace_of_version_2_needs_no_hosts_barrier_and_receives() {
    let trace = Trace::parse("t", SECOND).unwrap();
    assert_eq!((trace.processes(), trace.supersteps()), (2, 2));
    assert_eq!(trace.initial_host(ProcessId(0)), None);
    let plan = plan_of(&trace, 0);
    assert_eq!(plan.work[0], Instructions::new(2.5e9).unwrap());
    assert_eq!(plan.messages[0].size.get(), 1.5);
    let moves = &trace.prescribed_moves(1)[0];
    assert_eq!(
        (
            moves.transferred_bytes.get(),
            moves.wait_after_transfer.get()
        ),
        (1024.0, 0.005)
    );
    assert_eq!(trace.settings()[0].key, "runtime.sends");
    assert_eq!(trace.settings()[0].source_text, "t:4:15");
    let more = SECOND.replace("runtime", "barrier tree 8\nrecv late\ncycles 2.5\nruntime");
    let trace = Trace::parse("t", &more).unwrap();
    let keys: Vec<_> = runtime_of(&trace);
    let keys: Vec<_> = keys.iter().map(|(key, value)| (&**key, &**value)).collect();
    assert_eq!(
        keys,
        [
            ("barrier.kind", "tree"),
            ("barrier.bytes", "8 B"),
            ("receives", "late"),
            ("sends", "sequential")
        ]
    );
    assert_eq!(trace.cycles_per_instruction(), 2.5);
}

#[test]
fn memory_is_that_of_the_process_then_that_of_all_then_the_image_then_the_one_that_is_given() {
    let memory = |lines: &str, given: Option<f64>| {
        let text = SECOND
            .replace("memory 1 1.5MB", lines)
            .replace("processes 2", "processes 3");
        let trace = Trace::parse("t", &text).unwrap();
        let given = given.and_then(Bytes::new);
        memory_of(&match given {
            Some(size) => trace.with_default_memory(size),
            None => trace,
        })
    };
    // The memory of process 1 is 1 KiB after superstep 1.
    assert_eq!(memory("", None), [None, Some(1024.0), None]);
    assert_eq!(memory("", Some(7.0)), [Some(7.0), Some(1024.0), Some(7.0)]);
    assert_eq!(
        memory("memory 0 5", Some(7.0)),
        [Some(5.0), Some(1024.0), Some(7.0)]
    );
    assert_eq!(
        memory("memory 0 0B\nmemory 2kB", Some(7.0)),
        [Some(0.0), Some(2000.0), Some(2000.0)]
    );
}

#[test]
fn broken_traces_of_version_2_are_refused_where_they_are_broken() {
    let of = with_line_of_second;
    let cases = [
        (
            "migsim-trace",
            "1:13 the first line is not `migsim-trace 2`",
        ),
        (
            "migsim-trace 2 3",
            "1:16 the first line is not `migsim-trace 2`",
        ),
        (
            "migsim-trace 3",
            "1:14 unknown version `3` of the trace format",
        ),
        (
            "migsim-trace 2\n",
            "1:15 the trace does not end with the line `end`",
        ),
        (
            "migsim-trace 2\nend\n",
            "2:1 the line `end` is before the line `processes`",
        ),
        (&of(2, "processes 0"), "2:11 the trace has 0 processes"),
        (
            &of(2, "processes"),
            "2:10 the line `processes` lacks the value of `number`",
        ),
        (
            &of(2, "processes two"),
            "2:11 the value of `processes` is `two`, which is not a whole number",
        ),
        (
            &of(2, "processes 4000000000"),
            "2:11 the line `processes` states 4000000000 processes, but the file has only 10 lines",
        ),
        (
            &of(3, "processes 2"),
            "3:1 there is a second `processes` line",
        ),
        (&of(3, "bsp 1 2 2"), "3:1 unknown kind of line `bsp`"),
        (
            &of(3, "memory"),
            "3:7 the line `memory` lacks the value of `process`",
        ),
        (
            &of(3, "memory 2 5"),
            "3:8 the trace has no process 2 (processes are counted from 0)",
        ),
        (
            &of(3, "memory -5"),
            "3:8 the value of `bytes` is `-5`, which is out of range",
        ),
        (
            &of(3, "memory 1 1.5 MB"),
            "3:14 the line `memory` has the additional word `MB` after its values",
        ),
        (
            &of(3, "memory 1 5Mo"),
            "3:10 unknown unit `Mo` for a size (known units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)",
        ),
        (
            &of(4, "memory 1 5"),
            "4:8 process 1 has a second `memory` line",
        ),
        (
            &of(3, "memory 5\nmemory 6"),
            "4:1 there is a second `memory` line for all processes",
        ),
        (
            &of(6, "memory 5"),
            "6:1 the line `memory` is after the first `step` line, but must be before it",
        ),
        (
            &of(3, "runtime sends"),
            "3:14 the line `runtime` lacks the value of `value`",
        ),
        (
            &of(3, "runtime .a b"),
            "3:9 `.a` is not a key of the object `runtime`",
        ),
        (
            &of(3, "runtime sends late"),
            "4:1 `runtime.sends` is given twice",
        ),
        (
            &of(3, "recv late\nruntime receives early"),
            "4:1 `runtime.receives` is given twice",
        ),
        (
            &of(3, "recv never"),
            "3:6 unknown kind `never` in the `recv` line",
        ),
        (
            &of(3, "barrier tree 8x"),
            "3:14 unknown unit `x` for a size (known units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)",
        ),
        (
            &of(3, "cycles 0"),
            "3:8 the cycles per instruction are `0`, which is out of range",
        ),
        (
            &of(3, "cycles 1\ncycles 1"),
            "4:1 there is a second `cycles` line",
        ),
        (
            &of(3, "host 0 a"),
            "5:1 the trace names no host for process 1",
        ),
        (
            &of(5, "step 1"),
            "5:6 the `step` line has superstep 1, but superstep 0 is next",
        ),
        (
            &of(5, "step 99"),
            "5:6 the trace has no superstep 99 (supersteps are counted from 0)",
        ),
        (
            &of(6, "c 0 2.5Gop"),
            "6:5 unknown unit `Gop` for a computation (known units: instr, Kinstr, Minstr, Ginstr, Tinstr)",
        ),
        (
            &of(6, "c 0 -2Ginstr"),
            "6:5 computation `-2Ginstr` is out of range (it must be from 0 to 1e21 instr)",
        ),
        (
            &of(6, "c 0 nan"),
            "6:5 the value of `instructions` is `nan`, which is out of range",
        ),
        (
            &of(6, "c 0 2.5 Ginstr"),
            "6:9 the line `c` has the additional word `Ginstr` after its values",
        ),
        (
            &of(7, "m 0 1 x"),
            "7:7 `x` is not a number with a unit (for example `1.2 MB`)",
        ),
        (
            &of(9, "g 1 alpha 1KiB 5MB"),
            "9:16 unknown unit `MB` for a duration (known units: s, ms, us, ns, min, h)",
        ),
        (
            &of(10, ""),
            "9:19 the trace does not end with the line `end`",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(first_problem(text), expected, "{text}");
    }
}

#[test]
fn the_supersteps_of_lu_are_those_of_the_oracle() {
    // The constants of the oracle are 1 instruction per division, 2 per update (a multiplication and a subtraction), and 8 B per element.
    // P(0,0) has 30 - 1 = 29 divisions at k = 0, and 29·19·2 = 1102 instructions of updates. The oracle lists the messages along the rows
    // before those along the columns, migsim lists them by sender; the order of each sender is the same.
    let trace = Trace::parse("lu-60-2x3.trace", LU_60).unwrap();
    let lu = Lu::new(&counted(60, [2, 3], BlockSizes::Exact)).unwrap();
    assert_eq!(
        (lu.processes(), lu.supersteps()),
        (trace.processes(), trace.supersteps())
    );
    for superstep in 0..lu.supersteps() {
        assert_eq!(
            plan_of(&lu, superstep),
            by_sender(plan_of(&trace, superstep)),
            "superstep {superstep}"
        );
    }
}

#[test]
fn a_trace_knows_which_supersteps_repeat_the_one_before_them() {
    let again = "step 2\nc 1 5\nm 1 0 8\nstep 3\nc 1 5\nm 1 0 8\nstep 4\nc 1 5\nm 1 0 9\nend\n";
    let text = SMALL
        .replace("bsp 1 2 2", "bsp 1 2 5")
        .replace("end\n", again);
    let trace = Trace::parse("t", &text).expect("a trace");
    let repeats: Vec<bool> = (0..5).map(|superstep| trace.repeats(superstep)).collect();
    assert_eq!(repeats, [false, false, false, true, false]);
    // The last superstep has only its work in common with the earlier ones.
    for (superstep, size) in [(2, 8.0), (3, 8.0), (4, 9.0)] {
        let plan = plan_of(&trace, superstep);
        assert_eq!(plan.work[1].get(), 5.0);
        assert_eq!(plan.messages.len(), 1);
        assert_eq!(plan.messages[0].size.get(), size);
    }
}

/// Asserts that the first problem of each trace is the expected one.
fn assert_broken(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(first_problem(text), *expected, "{text}");
    }
}

#[test]
fn broken_headers_are_refused_where_they_are_broken() {
    assert_broken(&[
        ("", "1:1 the trace does not end with the line `end`"),
        ("host 0 a\n", "1:1 the first line is not `migsim-trace 2`"),
        ("bsp 2 1 1\n", "1:5 unknown version `2` of the trace format"),
        (
            "bsp 1 1000000000000 1\nend\n",
            "1:7 the first line states 1000000000000 processes, but only 1 line follows for them",
        ),
        (
            "bsp 1 1 18446744073709551615\nend\n",
            "1:9 the first line states 18446744073709551615 supersteps, but only 0 lines follow for them",
        ),
        (
            "bsp 1 99999999999999999999 1\nend\n",
            "1:7 the value of `processes` is `99999999999999999999`, which is not a whole number",
        ),
        ("bsp 1 0 0\nend\n", "1:7 the trace has 0 processes"),
        (
            "bsp 1 2\n",
            "1:8 the line `bsp` lacks the value of `supersteps`",
        ),
        (
            &with_line(2, "bsp 1 2 2"),
            "2:1 the trace has a second `bsp` line",
        ),
        (&with_line(2, "barrier tree"), "2:9 unknown barrier `tree`"),
        (
            &with_line(2, "barrier central"),
            "2:16 the line `barrier` lacks the value of `bytes`",
        ),
        (
            &with_line(2, "barrier ideal 8"),
            "2:15 the line `barrier` has the additional word `8` after its values",
        ),
        (
            &with_line(2, ""),
            "6:1 the trace has no `barrier` line above its first `step` line",
        ),
        (
            &with_line(3, "recv never"),
            "3:6 unknown kind `never` in the `recv` line",
        ),
        (
            &with_line(5, "host 0 alpha"),
            "5:6 process 0 has a second `host` line",
        ),
        (
            &with_line(5, ""),
            "6:1 the trace names no host for process 1",
        ),
        (
            &with_line(5, "host 2 alpha"),
            "5:6 the trace has no process 2 (processes are counted from 0)",
        ),
        (
            &with_line(6, "c 0 1"),
            "6:1 the line `c` is before the first `step` line, but must be after it",
        ),
        (
            &with_line(7, "host 0 x"),
            "7:1 the line `host` is after the first `step` line, but must be before it",
        ),
    ]);
}

#[test]
fn broken_steps_are_refused_where_they_are_broken() {
    assert_broken(&[
        (&with_line(7, "d 0 10"), "7:1 unknown kind of line `d`"),
        (
            &with_line(8, "c 0 10"),
            "8:3 process 0 has two `c` lines in one superstep",
        ),
        (
            &with_line(7, "c 0 -1"),
            "7:5 the value of `flops` is `-1`, which is out of range",
        ),
        (
            &with_line(7, "c 0 NaN"),
            "7:5 the value of `flops` is `NaN`, which is out of range",
        ),
        (
            &with_line(7, "c 0 inf"),
            "7:5 the value of `flops` is `inf`, which is out of range",
        ),
        (
            &with_line(7, "c 0 1e999"),
            "7:5 the value of `flops` is `1e999`, which is out of range",
        ),
        (
            &with_line(7, "c 0 many"),
            "7:5 the value of `flops` is `many`, which is not a number",
        ),
        (
            &with_line(8, "m 0 1 1.5"),
            "8:7 the value of `bytes` is `1.5`, which is not a whole number",
        ),
        (
            &with_line(8, "m 0 1 -8"),
            "8:7 the value of `bytes` is `-8`, which is not a whole number",
        ),
        (
            &with_line(8, "m 0 1 9007199254740993"),
            "8:7 the size `9007199254740993` in bytes is out of range",
        ),
        (
            &with_line(8, "m 0 -1 8"),
            "8:5 the value of `process` is `-1`, which is not a whole number",
        ),
        (
            &with_line(9, "step 0"),
            "9:6 the `step` line has superstep 0, but superstep 1 is next",
        ),
        (
            &with_line(9, "step 2"),
            "9:6 the trace has no superstep 2 (supersteps are counted from 0)",
        ),
        (
            &with_line(9, ""),
            "11:1 the trace ends after 1 of the 2 supersteps that its header states",
        ),
        (
            &with_line(10, "g 1 bêta 8 x"),
            "10:12 the value of `delay` is `x`, which is not a number",
        ),
        (
            &with_line(10, "g 1 a 0 0\ng 1 b 0 0"),
            "11:3 process 1 has two `g` lines (moves) in one superstep",
        ),
        (
            &with_line(11, ""),
            "10:18 the trace does not end with the line `end`",
        ),
        (
            &with_line(11, "end\n\n  step 2"),
            "13:3 the trace continues after its line `end`",
        ),
    ]);
}

#[test]
fn all_problems_are_reported_together_up_to_twenty() {
    let count = |text: &str| match Trace::parse("t", text) {
        Err(Error::Input(problems)) => problems.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(count(&SMALL.replace("c 0", "c 7").replace("m 0", "m 8")), 2);
    assert_eq!(count(&SMALL.replace("step 1", "step x")), 1);
    assert_eq!(count(&with_line(7, &"x\n".repeat(100))), 20);
}

#[test]
fn bytes_that_are_no_text_are_refused_at_their_place() {
    let error = Trace::parse_bytes("t", b"bsp 1 2 2\nab\xff").unwrap_err();
    assert!(error.to_string().contains("t:2:3"), "{error}");
    let error = Trace::read("no/such.trace").unwrap_err();
    assert!(error.to_string().contains("no/such.trace"), "{error}");
}

#[test]
fn a_trace_survives_being_written_and_read() {
    for text in [SMALL, LU_60, MOVES, SECOND] {
        let trace = Trace::parse("t", text).unwrap();
        let text = written(&trace);
        let again = Trace::parse("t", &text).unwrap();
        assert_eq!(written(&again), text);
        assert_eq!(hosts_of(&again), hosts_of(&trace));
        assert_eq!(memory_of(&again), memory_of(&trace));
        for superstep in 0..trace.supersteps() {
            assert_eq!(plan_of(&again, superstep), plan_of(&trace, superstep));
            assert_eq!(
                again.prescribed_moves(superstep),
                trace.prescribed_moves(superstep)
            );
        }
    }
}

#[test]
fn workloads_that_the_format_cannot_express_are_not_written() {
    let trace = Trace::parse("t", SMALL).unwrap();
    let refused = |hosts: &[&str], value: &str| {
        let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
        let preamble = TracePreamble {
            host_names: &hosts,
            runtime_settings: &[("sends".to_owned(), value.to_owned())],
            comments: &[],
        };
        let result = Trace::write(&trace, &preamble, &mut Vec::new());
        matches!(result, Err(Error::Output(problem)) if problem.hint.is_some())
    };
    assert!(refused(&["a"], "sequential"));
    assert!(refused(&["a", "b c"], "sequential"));
    assert!(refused(&["a", "#b"], "sequential"));
    assert!(refused(&["a", "b"], ""));
    assert!(!refused(&["a", "b"], "sequential"));
    assert!(!refused(&[], "sequential"));
}

#[test]
fn every_truncation_is_refused() {
    for text in [MOVES, SECOND] {
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            let is_whole = text[..end].trim_end().lines().last() == Some("end");
            let is_read = Trace::parse("t", &text[..end]).is_ok();
            assert_eq!(is_read, is_whole, "cut at {end}");
        }
    }
}

#[test]
fn a_superstep_of_a_trace_is_filled_without_allocating() {
    let trace = Trace::parse("t", MOVES).unwrap();
    let mut plan = Plan::default();
    let mut run = || {
        for superstep in 0..trace.supersteps() {
            plan.clear(trace.processes());
            trace.fill(superstep, &mut plan);
        }
    };
    run();
    assert_eq!(allocation_counter::measure(run).count_total, 0);
}

proptest! {
    #[test]
    fn any_lu_survives_being_written_and_read(m in 1_u64..4, columns in 1_u64..4, times in 1_u64..4, mean: bool, sequential: bool) {
        let blocks = if mean { BlockSizes::Mean } else { BlockSizes::Exact };
        let lu = Lu::new(&counted(times * m * columns, [m, columns], blocks)).unwrap();
        let hosts: Vec<String> = (0..lu.processes()).map(|process| format!("h{process}")).collect();
        let sends = if sequential { "sequential" } else { "concurrent" };
        let runtime = [("sends".to_owned(), sends.to_owned())];
        let mut bytes = Vec::new();
        Trace::write(&lu, &TracePreamble { host_names: &hosts, runtime_settings: &runtime, comments: &["LU\nend".to_owned()] }, &mut bytes)
            .expect("a vector can be written to");
        let trace = Trace::parse_bytes("again", &bytes).expect("what was written can be read");
        prop_assert_eq!(runtime_of(&trace), runtime);
        prop_assert_eq!(hosts_of(&trace), hosts);
        for process in (0..lu.processes()).map(ProcessId::from_index) {
            prop_assert_eq!(trace.memory(process), lu.memory(process));
        }
        for superstep in 0..lu.supersteps() {
            prop_assert_eq!(plan_of(&trace, superstep), plan_of(&lu, superstep));
        }
    }

    /// Random damage gives a trace or an error, and all data of a trace can be read.
    #[test]
    fn no_damage_panics(changes in prop::collection::vec((0_usize..3000, any::<u8>(), 0_u8..3), 1..6), which in 0_usize..3) {
        let mut bytes = [SMALL, MOVES, SECOND][which].as_bytes().to_vec();
        for (at, byte, kind) in changes {
            let at = at % bytes.len();
            match kind {
                0 => bytes[at] = byte,
                1 => bytes[at] = b"0123456789 \n#-.e"[usize::from(byte) % 16],
                _ => drop(bytes.remove(at)),
            }
        }
        match Trace::parse_bytes("t", &bytes) {
            Ok(trace) => for superstep in 0..trace.supersteps() {
                plan_of(&trace, superstep);
                trace.prescribed_moves(superstep);
                trace.memory(ProcessId(0));
            },
            Err(error) => prop_assert!(error.to_string().contains("hint")),
        }
    }
}
