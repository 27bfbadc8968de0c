//! Writes the printed output of `migsim record`: the messages and the work of the trace, the differences between repetitions, and
//! advice.

use std::fmt::Write as _;

use super::super::args::{ComputationClock, RecordArguments};
use crate::{
    words::format_count,
    workload::record::{ConvertedTrace, WorkVariation},
};

/// Maximum number of processes whose differences between repetitions are printed; the processes with the largest differences are
/// chosen.
const MAX_PRINTED_PROCESSES: usize = 8;
/// Difference between the repetitions of a process, relative to the shortest repetition, above which more repetitions are
/// proposed.
const MAX_ACCEPTED_SPREAD: f64 = 0.1;

/// Describes a recording and the resulting trace in lines of text, one for each fact.
pub(super) fn describe_recording(arguments: &RecordArguments, made: &ConvertedTrace) -> String {
    let mut text = format!(
        "{}: {}, {}, {}\n",
        arguments.out.display(),
        format_count(made.process_count, "process"),
        format_count(made.superstep_count, "superstep"),
        format_count(made.message_count, "message"),
    );
    let fact = |key| made.recording_facts.get(key);
    if let (Some(library), Some(version)) = (fact("library"), fact("version")) {
        let over =
            fact("transport").map_or_else(String::new, |transport| format!(" over {transport}"));
        let waiting =
            fact("waiting").map_or_else(String::new, |way| format!(", waiting processes {way}"));
        let _ = writeln!(text, "library: {library} {version}{over}{waiting}");
    }
    if let Some(origin) = fact("collectives") {
        let origin = match origin {
            "sent" => "as the library sent them",
            _ => "by formulas, since migsim cannot see what this library sends inside collectives",
        };
        let _ = writeln!(text, "messages of collectives: {origin}");
    }
    let origin = match (arguments.speed, made.is_speed_measured) {
        (Some(_), _) => "given by `--speed`",
        (None, true) => "the fastest measured clock of the core; `--speed` sets another one",
        (None, false) => {
            "a default, since the clock of the core was not measured; `--speed` sets another one"
        }
    };
    let measured = fact("speeds").map_or_else(String::new, |range| {
        let (slowest, fastest) = range.split_once('-').unwrap_or((range, range));
        format!(
            "clock: {slowest} to {fastest}, measured on each process before and after its run\n"
        )
    });
    let clock = fact("clock").map_or_else(String::new, |clock| format!("{clock} "));
    let _ = writeln!(
        text,
        "work: measured {clock}time multiplied by {} GHz ({origin})",
        made.core_speed.get() / 1e9
    );
    text.push_str(&measured);
    let _ = writeln!(
        text,
        "recorder: adds {} ns to each MPI call",
        made.recorder_overhead_ns
    );
    let runs = fact("repetitions").unwrap_or("1");
    if runs != "1" {
        let _ = writeln!(
            text,
            "repetitions: {runs}; each piece of work in the trace has the {} of its times in these runs; computation of the ranks that differ most:",
            fact("piece").unwrap_or("least")
        );
        for (rank, spread) in largest_repetition_differences(&made.work_variations) {
            let [taken, least, most] = [
                spread.combined_work_ns,
                spread.min_work_ns,
                spread.max_work_ns,
            ]
            .map(|time| time as f64 * 1e-9);
            let _ = writeln!(
                text,
                "  rank {rank}: {taken:.4} s in the trace; {least:.4} to {most:.4} s in single runs"
            );
        }
    }
    text
}

/// Selects the processes with the largest relative differences between repetitions, at most [`MAX_PRINTED_PROCESSES`], in the
/// order of their ranks.
fn largest_repetition_differences(spreads: &[WorkVariation]) -> Vec<(usize, WorkVariation)> {
    let mut all: Vec<(usize, WorkVariation)> = spreads.iter().copied().enumerate().collect();
    all.sort_by(|(_, one), (_, other)| {
        relative_repetition_difference(other).total_cmp(&relative_repetition_difference(one))
    });
    all.truncate(MAX_PRINTED_PROCESSES);
    all.sort_by_key(|(rank, _)| *rank);
    all
}

/// Computes the difference between the longest and the shortest repetition of a process, relative to the shortest repetition.
fn relative_repetition_difference(spread: &WorkVariation) -> f64 {
    (spread.max_work_ns - spread.min_work_ns) as f64 / spread.min_work_ns.max(1) as f64
}

/// Returns advice for the user on how to improve a recording on a machine with `cores` cores, one sentence each; empty if there
/// is no advice.
pub(super) fn recording_advice(
    arguments: &RecordArguments,
    made: &ConvertedTrace,
    cores: usize,
) -> Vec<String> {
    let mut notes = Vec::new();
    let is_wall = matches!(arguments.clock, ComputationClock::Wall) && arguments.from.is_empty();
    if is_wall && made.process_count > cores {
        notes.push(format!(
            "{} shared {}, so that the measured wall-clock time of a process includes the computation of others; record with `--clock cpu`",
            format_count(made.process_count, "process"),
            format_count(cores, "core")
        ));
    }
    if let Some(threads) = made.recording_facts.get("threads") {
        notes.push(format!(
            "a process had up to {threads} threads; `--clock wall` takes the time that passes between MPI calls as its work, and `--clock cpu` the processor time of all its threads"
        ));
    }
    let is_once = arguments.repeat == 1 && arguments.from.len() < 2;
    if is_once {
        let note = "the recorded work may include disturbances by other programs, since the program ran only once; `--repeat 5` runs it five times and \
        takes the least time of each piece of work, and `--take median` the median";
        notes.push(note.to_owned());
    } else if made
        .work_variations
        .iter()
        .any(|spread| relative_repetition_difference(spread) > MAX_ACCEPTED_SPREAD)
    {
        let most = made
            .work_variations
            .iter()
            .map(relative_repetition_difference)
            .fold(0.0, f64::max);
        notes.push(format!(
            "the work of a process differs by up to {:.0} % between the runs; record on an idle machine, or with a larger `--repeat`",
            100.0 * most
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::record::{WorkConversion, convert_to_trace};
    use clap::Parser as _;

    /// The arguments of `migsim record` with these flags.
    fn arguments(flags: &[&str]) -> RecordArguments {
        let words = [&["migsim", "record"][..], flags, &["--", "mpirun"]].concat();
        match crate::cli::Arguments::parse_from(words).command {
            crate::cli::args::Command::Record(arguments) => arguments,
            _ => unreachable!("the command is `record`"),
        }
    }

    /// A recording with one process that computes for these times in its runs \[ns\].
    fn made(runs: &[u64], arguments: &RecordArguments) -> ConvertedTrace {
        let record = |work: &u64| {
            format!(
                "migsim-record 1 0 1\nw {work}\ni version Open MPI v4.1.4\nh 2400000000\nh 2500000000\nend\n"
            )
        };
        let runs: Vec<_> = runs
            .iter()
            .map(|work| vec![("0".to_owned(), record(work))])
            .collect();
        let measure = WorkConversion {
            takes_median: false,
            region: None,
            core_speed: arguments.speed,
            clock_name: "wall",
        };
        convert_to_trace(&runs, measure).unwrap()
    }

    #[test]
    fn speed_and_its_origin_are_printed() {
        let plain = arguments(&[]);
        let said = describe_recording(&plain, &made(&[1_000_000], &plain));
        assert_eq!(
            said,
            "app.trace: 1 process, 1 superstep, 0 messages\nlibrary: open-mpi 4.1.4\n\
             work: measured wall time multiplied by 2.5 GHz (the fastest measured clock of the core; `--speed` sets another one)\n\
             clock: 2.4GHz to 2.5GHz, measured on each process before and after its run\n\
             recorder: adds 0 ns to each MPI call\n"
        );
        let given = arguments(&["--speed", "2 GHz"]);
        let said = describe_recording(&given, &made(&[1_000_000], &given));
        assert!(
            said.contains("time multiplied by 2 GHz (given by `--speed`)"),
            "{said}"
        );
    }

    #[test]
    fn the_spread_of_repetitions_is_printed_and_noted_if_it_is_wide() {
        let five = arguments(&["--repeat", "3"]);
        let wide = made(&[1_000_000, 1_300_000, 1_100_000], &five);
        let said = describe_recording(&five, &wide);
        assert!(
            said.ends_with("  rank 0: 0.0010 s in the trace; 0.0010 to 0.0013 s in single runs\n"),
            "{said}"
        );
        let notes = |made: &ConvertedTrace| super::recording_advice(&five, made, 1);
        assert!(notes(&wide)[0].contains("differs by up to 30 % between the runs"));
        assert_eq!(notes(&made(&[1_000_000, 1_050_000], &five)), [""; 0]);
    }

    #[test]
    fn the_clock_of_the_processor_is_proposed_if_processes_share_cores() {
        let plain = arguments(&[]);
        let notes = |flags: &[&str], cores| {
            super::recording_advice(&arguments(flags), &made(&[5], &plain), cores).join("\n")
        };
        assert!(
            notes(&[], 0).contains("1 process shared 0 cores")
                && notes(&[], 0).contains("`--clock cpu`")
        );
        assert!(!notes(&[], 1).contains("--clock"));
        assert!(!notes(&["--clock", "cpu"], 0).contains("--clock"));
    }
}
