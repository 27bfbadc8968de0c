//! The flags of `migsim record`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::units::InstructionsPerSecond;

#[derive(Debug, Args)]
pub(in crate::cli) struct RecordArguments {
    /// Write the trace into this file
    #[arg(long, value_name = "FILE", default_value = "app.trace")]
    pub(in crate::cli) out: PathBuf,
    /// The speed of the hosts that recorded: the work of the trace is time x speed [default: the measured clock of the core]
    #[arg(long, value_name = "SPEED")]
    pub(in crate::cli) speed: Option<InstructionsPerSecond>,
    /// Run the program N times, and take the least or the median work of each piece; runs whose messages differ are refused
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..), conflicts_with = "from")]
    pub(in crate::cli) repeat: u16,
    /// The work of each piece of several runs: the minimum where other programs disturb the runs, the median on an idle host
    #[arg(long, value_enum, default_value = "least")]
    pub(in crate::cli) take: RecordTake,
    /// The time that counts as computation: all time between two calls of MPI, or only that of the processor
    #[arg(long, value_enum, default_value = "wall")]
    pub(in crate::cli) clock: RecordClock,
    /// Make the trace from the records kept in this folder by an earlier recording; start no program. Repeatable: a folder for each repetition
    #[arg(long, value_name = "DIR", conflicts_with = "program")]
    pub(in crate::cli) from: Vec<PathBuf>,
    /// The command that starts the program, behind `--`
    #[arg(value_name = "COMMAND", required_unless_present = "from", last = true)]
    pub(in crate::cli) program: Vec<String>,
}

/// The work that is taken of the repetitions of a piece.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(in crate::cli) enum RecordTake {
    /// The least of all runs
    Least,
    /// The median of all runs
    Median,
}

/// The clock that measures computation.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(in crate::cli) enum RecordClock {
    /// The wall clock.
    Wall,
    /// The time of the processor that the process uses.
    Cpu,
}
