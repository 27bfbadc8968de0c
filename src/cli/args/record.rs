//! The flags of `migsim record`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::units::InstructionsPerSecond;

#[derive(Debug, Args)]
pub(in crate::cli) struct RecordArguments {
    /// Write the trace into this file
    #[arg(long, value_name = "FILE", default_value = "app.trace")]
    pub(in crate::cli) out: PathBuf,
    /// The speed of the hosts that recorded: the work of the trace is time x speed
    #[arg(long, value_name = "SPEED", default_value = "1 GHz")]
    pub(in crate::cli) speed: InstructionsPerSecond,
    /// The time that is computation: all between two calls, or that of the processor alone
    #[arg(long, value_enum, default_value = "wall")]
    pub(in crate::cli) clock: RecordClock,
    /// Make the trace from the records kept in this folder by an earlier recording; start no program
    #[arg(long, value_name = "DIR", conflicts_with = "program")]
    pub(in crate::cli) from: Option<PathBuf>,
    /// The command that starts the program, behind `--`
    #[arg(value_name = "COMMAND", required_unless_present = "from", last = true)]
    pub(in crate::cli) program: Vec<String>,
}

/// The clock that measures computation.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(in crate::cli) enum RecordClock {
    /// The wall clock.
    Wall,
    /// The time of the processor that the process uses.
    Cpu,
}
