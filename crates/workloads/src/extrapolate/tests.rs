//! Tests on programs for any number of processes, so that their traces for more processes are known.

use super::*;
use crate::Workload;
use family::PatternFamily;

/// Returns the trace of a program: iterations of work and neighbours in a grid, an allreduce by recursive doubling, and a ring at the end.
/// It has strong scaling: `cells` in total.
fn program(processes: usize, cells: f64) -> Trace {
    let mut text = format!(
        "migsim-trace 2\nprocesses {processes}\nrecorded library open-mpi\nmemory 1MB\nruntime barrier.kind none\n"
    );
    let mut step = 0;
    let mut add = |work: Option<f64>, messages: &[(usize, usize, f64)]| {
        let _ = writeln!(text, "step {step}");
        for process in 0..if work.is_some() { processes } else { 0 } {
            // The last process has a tenth more.
            let more = if process + 1 == processes { 1.1 } else { 1.0 };
            let _ = writeln!(text, "c {process} {}", work.unwrap_or(0.0) * more);
        }
        for (from, to, size) in messages {
            let _ = writeln!(text, "m {from} {to} {size}");
        }
        step += 1;
    };
    let grid = PatternFamily::Grid {
        dimensions: 2,
        is_periodic: false,
        is_last_dimension_longest: false,
    };
    let sized =
        |family: PatternFamily, size: &dyn Fn(usize) -> f64| -> Vec<Vec<(usize, usize, f64)>> {
            let steps = family.messages_by_superstep(processes).unwrap().into_iter();
            steps
                .map(|step| {
                    step.into_iter()
                        .map(|(from, to, slot)| (from, to, size(slot)))
                        .collect()
                })
                .collect()
        };
    let side = |slot: usize| {
        (8.0 * cells.sqrt() / grid.cross_section_process_count(slot, processes) as f64).round()
    };
    for _ in 0..5 {
        add(
            Some(100.0 * cells / processes as f64),
            &sized(grid, &side)[0],
        );
        for (round, messages) in sized(PatternFamily::RecursiveDoubling, &|_| 8.0)
            .iter()
            .enumerate()
        {
            add((round == 0).then_some(cells / processes as f64), messages);
        }
    }
    for messages in sized(PatternFamily::Ring { turns: 2 }, &|_| {
        (1e6 / processes as f64).round()
    }) {
        add(None, &messages);
    }
    for messages in sized(PatternFamily::OpenShift { is_forward: true }, &|_| 64.0) {
        add(None, &messages);
    }
    text.push_str("end\n");
    Trace::parse("made", &text).unwrap()
}

fn recorded(counts: &[usize]) -> Vec<(String, Trace)> {
    counts
        .iter()
        .map(|count| (format!("p{count}.trace"), program(*count, 1_048_576.0)))
        .collect()
}

#[test]
fn a_regular_program_is_the_same_with_more_processes() {
    let found = extrapolate(&recorded(&[8, 2, 4]), 64).unwrap();
    assert_eq!(
        (
            found.accuracy_check.process_count,
            found.accuracy_check.relative_bytes_error.abs() < 1e-4
        ),
        (8, true),
        "{:?}",
        found.accuracy_check
    );
    assert!(
        found.accuracy_check.relative_work_error.abs() < 0.05,
        "{:?}",
        found.accuracy_check
    );
    let (made, expected) = (
        Trace::parse("made", &found.trace_text).unwrap(),
        program(64, 1_048_576.0),
    );
    assert_eq!(
        (made.processes(), made.supersteps()),
        (64, expected.supersteps())
    );
    let (made, expected) = (
        RecordedRun::from_trace("", &made),
        RecordedRun::from_trace("", &expected),
    );
    for (step, (one, other)) in made.supersteps.iter().zip(&expected.supersteps).enumerate() {
        assert_eq!(
            one.message_sizes_by_pair, other.message_sizes_by_pair,
            "superstep {step}"
        );
    }
    let sum = |sample: &RecordedRun| {
        sample
            .total_work_by_process(0..sample.supersteps.len())
            .iter()
            .sum::<f64>()
    };
    assert!((sum(&made) / sum(&expected) - 1.0).abs() < 0.05);
    assert_eq!(found.law_descriptions.len(), 4);
    assert!(
        found.law_descriptions.iter().any(|law| law.contains(
            "5 x recursive doubling, P processes: work of a process proportional to P^-"
        )),
        "{:?}",
        found.law_descriptions
    );
    assert!(
        found
            .trace_text
            .contains("recorded library open-mpi\nruntime barrier.kind none\n")
    );
}

#[test]
fn what_is_irregular_is_refused_with_its_place() {
    let error = |traces: &[(String, Trace)], processes| {
        extrapolate(traces, processes).unwrap_err().to_string()
    };
    let few = error(&recorded(&[2, 4]), 64);
    assert!(
        few.contains("at least 3 different numbers of processes; found: 2"),
        "{few}"
    );
    let odd = error(&recorded(&[2, 4, 8]), 48);
    assert!(
        odd.contains("recursive doubling") && odd.contains("power of two"),
        "{odd}"
    );
    // One message more than in the pattern.
    let mut strange = recorded(&[2, 4]);
    let text = "migsim-trace 2\nprocesses 8\nstep 0\nm 0 5 8\nm 3 1 8\nend\n";
    strange.push(("p8.trace".into(), Trace::parse("p8.trace", text).unwrap()));
    let strange = error(&strange, 64);
    assert!(
        strange.contains("in superstep 0 (counted from 0), 2 messages follow no known pattern")
            && strange.contains("p8.trace"),
        "{strange}"
    );
    // A weak-scaling recording after strong-scaling ones.
    let mut mixed = recorded(&[2, 4]);
    mixed.push(("p8.trace".into(), program(8, 8_388_608.0)));
    let mixed = error(&mixed, 64);
    assert!(
        mixed.contains("p8.trace") && mixed.contains("% is accepted"),
        "{mixed}"
    );
}

#[test]
fn recordings_of_different_lengths_are_refused() {
    let trace = |processes: usize, iterations: usize| {
        let steps: Vec<String> = (0..iterations)
            .map(|step| format!("step {step}\nc 0 1e9\n"))
            .collect();
        let steps = steps.concat();
        let text = format!("migsim-trace 2\nprocesses {processes}\n{steps}end\n");
        (
            format!("p{processes}.trace"),
            Trace::parse("made", &text).unwrap(),
        )
    };
    let traces = [trace(2, 3), trace(4, 3), trace(8, 4)];
    let error = extrapolate(&traces, 16).unwrap_err().to_string();
    assert!(
        error.contains(
            "the recording ends after 3 supersteps, but the other recordings continue there"
        ) && error.contains("p2.trace"),
        "{error}"
    );
}
