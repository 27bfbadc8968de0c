//! Comparison of predicted with measured times for programs that `migsim record` recorded: a Jacobi iteration and a molecular
//! dynamics simulation.
//!
//! The traces of these programs have no barriers. Their computation times were measured on the machine for which the times are
//! predicted. The comparison therefore shows how accurately a recorded trace is converted to times. It is not a forecast for
//! another machine.

use crate::packed::decompress_text;
use migsim_base::error::{Error, Problem};
use migsim_base::units::HostId;
use migsim_bsp::BarrierKind;
use migsim_workloads::{Workload, trace::Trace};

/// Machine on which programs were recorded and measured; each machine has a different overhead per message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    /// The machine on which all other programs of the study were measured; its hosts and its network both limit the rate of
    /// traffic.
    First,
    /// A faster machine, in which only the network limits the rate of traffic.
    Second,
}

impl Machine {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Second => "second",
        }
    }
}

/// A program that was recorded, and that was also measured without the recorder.
#[derive(Clone, Copy, Debug)]
struct RecordedProgram {
    name: &'static str,
    machine: Machine,
    platform: &'static str,
    /// Median of the execution times in 7 measured runs without the recorder \[s\].
    median_s: f64,
    /// First and third quartile of the measured execution times \[s\].
    quartiles_s: [f64; 2],
    /// Traces of the recorded runs of the program; long traces are compressed with brotli.
    traces: &'static [&'static [u8]],
}

/// The recorded programs, each on 8 processes. Measured times are from `MPI_Init` to `MPI_Finalize`.
const PROGRAMS: [RecordedProgram; 5] = [
    RecordedProgram {
        name: "heat, 512 x 512, 60 iterations",
        machine: Machine::First,
        platform: "two",
        median_s: 1.1758,
        quartiles_s: [1.1683, 1.1771],
        traces: &[
            include_bytes!("heat-1.trace"),
            include_bytes!("heat-2.trace"),
            include_bytes!("heat-3.trace"),
        ],
    },
    RecordedProgram {
        name: "LAMMPS melt, 4 000 atoms, 100 steps",
        machine: Machine::First,
        platform: "two",
        median_s: 3.8072,
        quartiles_s: [3.7985, 3.8585],
        traces: &[
            include_bytes!("melt-1.trace.br"),
            include_bytes!("melt-2.trace.br"),
        ],
    },
    RecordedProgram {
        name: "LAMMPS melt, 4 000 atoms, 100 steps",
        machine: Machine::First,
        platform: "two-slow",
        median_s: 12.2294,
        quartiles_s: [12.1967, 12.2354],
        traces: &[
            include_bytes!("melt-slow-1.trace.br"),
            include_bytes!("melt-slow-2.trace.br"),
        ],
    },
    RecordedProgram {
        name: "heat, 512 x 512, 60 iterations",
        machine: Machine::Second,
        platform: "two",
        median_s: 1.1647,
        quartiles_s: [1.1644, 1.1654],
        traces: &[
            include_bytes!("heat-second-1.trace"),
            include_bytes!("heat-second-2.trace"),
            include_bytes!("heat-second-3.trace"),
        ],
    },
    RecordedProgram {
        name: "LAMMPS melt, 4 000 atoms, 100 steps",
        machine: Machine::Second,
        platform: "two",
        median_s: 3.2337,
        quartiles_s: [3.2136, 3.2640],
        traces: &[
            include_bytes!("melt-second-1.trace.br"),
            include_bytes!("melt-second-2.trace.br"),
        ],
    },
];

/// A recorded run of a program, with the measured times of the program and the predicted times of the run.
#[derive(Clone, Debug)]
pub(super) struct RecordedRun {
    pub(super) name: String,
    pub(super) machine: Machine,
    pub(super) platform: &'static str,
    /// Median of the execution times of the program that were measured without the recorder \[s\].
    pub(super) median_s: f64,
    pub(super) quartiles_s: [f64; 2],
    /// Predicted time of the run \[s\], without barriers between the supersteps and without queues of packets.
    pub(super) predicted_s: f64,
    pub(super) predicted_with_barriers_s: f64,
    pub(super) predicted_with_queues_s: f64,
}

fn trace_text(file: &[u8]) -> Result<String, Error> {
    if !file.starts_with(b"migsim-trace") {
        return decompress_text(file);
    }
    String::from_utf8(file.to_vec()).map_err(|error| Problem::new(error.to_string()).into())
}

/// Predicts the times of all recorded runs. The function `run` returns the time of a trace \[s\], for a machine and platform, a
/// placement, a kind of barrier, and with or without queues of packets.
pub(super) fn predict_recorded_runs(
    run: impl Fn((Machine, &str), &Trace, &[HostId], (BarrierKind, bool)) -> Result<f64, Error>,
) -> Result<Vec<RecordedRun>, Error> {
    let mut all = Vec::new();
    for program in &PROGRAMS {
        for (number, file) in (1..).zip(program.traces) {
            let trace = Trace::parse(program.name, &trace_text(file)?)?;
            let hosts = 0..trace.processes();
            let placement: Vec<HostId> = hosts.map(HostId::from_index).collect();
            let place = (program.machine, program.platform);
            let time = |kind, queues| run(place, &trace, &placement, (kind, queues));
            all.push(RecordedRun {
                name: format!("{}, run {number}", program.name),
                median_s: program.median_s,
                quartiles_s: program.quartiles_s,
                machine: program.machine,
                platform: program.platform,
                predicted_s: time(BarrierKind::None, false)?,
                predicted_with_barriers_s: time(BarrierKind::Ideal, false)?,
                predicted_with_queues_s: time(BarrierKind::None, true)?,
            });
        }
    }
    Ok(all)
}
