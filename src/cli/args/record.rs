//! Defines the flags of `migsim record`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::units::InstructionsPerSecond;

#[derive(Debug, Args)]
pub(crate) struct RecordArguments {
    /// Write the recorded trace into this file
    #[arg(long, value_name = "FILE", default_value = "app.trace")]
    pub out: PathBuf,
    /// The speed of the hosts that ran the program; the work in the trace is time x speed [default: the measured clock rate of
    /// the core]
    #[arg(long, value_name = "SPEED")]
    pub speed: Option<InstructionsPerSecond>,
    /// Run the program N times, and take the minimum or the median of the work between two MPI calls; runs whose messages differ
    /// are refused
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..), conflicts_with = "from")]
    pub repeat: u16,
    /// How the work between two MPI calls is taken from several runs: the minimum if other programs disturb the runs, the median
    /// on an idle host
    #[arg(long, value_enum, default_value = "least")]
    pub take: RepetitionStatistic,
    /// The time that counts as computation: all time between two MPI calls, or only the processor time
    #[arg(long, value_enum, default_value = "wall")]
    pub clock: ComputationClock,
    /// Record only the region NAME, which the program begins with `MPI_Pcontrol(1, "NAME")` and ends with `MPI_Pcontrol(-1, "NAME")`
    #[arg(long, value_name = "NAME")]
    pub region: Option<String>,
    /// The compiler of the MPI library of the program [default: the one whose library the program loads, or `mpicc`]
    #[arg(long, value_name = "COMPILER", conflicts_with = "from")]
    pub mpicc: Option<String>,
    /// Create the trace from the records that an earlier recording kept in this folder, without running the program; repeatable:
    /// one folder for each repetition
    #[arg(long, value_name = "DIR", conflicts_with = "program")]
    pub from: Vec<PathBuf>,
    /// The command after `--` that starts the MPI program
    #[arg(value_name = "COMMAND", required_unless_present = "from", last = true)]
    pub program: Vec<String>,
}

/// How the work between two MPI calls is determined from several runs of the program.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RepetitionStatistic {
    /// The minimum of all runs
    Least,
    /// The median of all runs
    Median,
}

/// The clock that measures the time of computation between two MPI calls.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ComputationClock {
    /// The wall clock: all time between two MPI calls counts as computation
    Wall,
    /// The processor clock: only the time for which the process uses a processor counts as computation
    Cpu,
}
