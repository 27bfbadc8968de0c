//! Real programs, recorded by `migsim record` and predicted: a Jacobi iteration and a molecular dynamics simulation.
//!
//! Their traces have no barriers. What they compute is measured on the machine that they are predicted for, so that this judges the way from
//! records to times, and forecasts no other machine.

use crate::packed::unpacked;
use migsim_base::error::{Error, Problem};
use migsim_base::units::HostId;
use migsim_bsp::BarrierKind;
use migsim_workloads::{Workload, trace::Trace};

/// A machine on which programs were recorded and measured. Each has its own overhead of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    /// That of the cases: its hosts shape what they send, and the network that they send it to shapes it again.
    First,
    /// Faster; there only the network shapes.
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

/// A program that was measured without the recorder, too.
#[derive(Clone, Copy, Debug)]
struct Program {
    name: &'static str,
    machine: Machine,
    platform: &'static str,
    /// The median of its times \[s\], 7 runs.
    median: f64,
    /// Their first and third quartile \[s\].
    quartiles: [f64; 2],
    /// The traces of recorded runs, the long ones compressed with brotli.
    traces: &'static [&'static [u8]],
}

/// From `MPI_Init` to `MPI_Finalize`, 8 processes.
const PROGRAMS: [Program; 5] = [
    Program {
        name: "heat, 512 x 512, 60 iterations",
        machine: Machine::First,
        platform: "two",
        median: 1.1758,
        quartiles: [1.1683, 1.1771],
        traces: &[
            include_bytes!("heat-1.trace"),
            include_bytes!("heat-2.trace"),
            include_bytes!("heat-3.trace"),
        ],
    },
    Program {
        name: "LAMMPS melt, 4 000 atoms, 100 steps",
        machine: Machine::First,
        platform: "two",
        median: 3.8072,
        quartiles: [3.7985, 3.8585],
        traces: &[
            include_bytes!("melt-1.trace.br"),
            include_bytes!("melt-2.trace.br"),
        ],
    },
    Program {
        name: "LAMMPS melt, 4 000 atoms, 100 steps",
        machine: Machine::First,
        platform: "two-slow",
        median: 12.2294,
        quartiles: [12.1967, 12.2354],
        traces: &[
            include_bytes!("melt-slow-1.trace.br"),
            include_bytes!("melt-slow-2.trace.br"),
        ],
    },
    Program {
        name: "heat, 512 x 512, 60 iterations",
        machine: Machine::Second,
        platform: "two",
        median: 1.1647,
        quartiles: [1.1644, 1.1654],
        traces: &[
            include_bytes!("heat-second-1.trace"),
            include_bytes!("heat-second-2.trace"),
            include_bytes!("heat-second-3.trace"),
        ],
    },
    Program {
        name: "LAMMPS melt, 4 000 atoms, 100 steps",
        machine: Machine::Second,
        platform: "two",
        median: 3.2337,
        quartiles: [3.2136, 3.2640],
        traces: &[
            include_bytes!("melt-second-1.trace.br"),
            include_bytes!("melt-second-2.trace.br"),
        ],
    },
];

/// A recorded run of a program.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) name: String,
    pub(super) machine: Machine,
    pub(super) platform: &'static str,
    /// What the program takes without the recorder: median and quartiles \[s\].
    pub(super) median: f64,
    pub(super) quartiles: [f64; 2],
    /// The predicted time, that with ideal barriers between the supersteps, and that with packets in queues \[s\].
    pub(super) predicted: f64,
    pub(super) with_barriers: f64,
    pub(super) in_queues: f64,
}

/// The text of a trace, which may be compressed with brotli.
fn text(file: &[u8]) -> Result<String, Error> {
    if !file.starts_with(b"migsim-trace") {
        return unpacked(file);
    }
    String::from_utf8(file.to_vec()).map_err(|error| Problem::new(error.to_string()).into())
}

/// Predicts all recorded runs; `run` gives the time of a trace on a machine and a platform from its placement, under a barrier, with packets in
/// queues or without \[s\].
pub(super) fn recorded(
    run: impl Fn((Machine, &str), &Trace, &[HostId], (BarrierKind, bool)) -> Result<f64, Error>,
) -> Result<Vec<Recorded>, Error> {
    let mut all = Vec::new();
    for program in &PROGRAMS {
        for (number, file) in (1..).zip(program.traces) {
            let trace = Trace::parse(program.name, &text(file)?)?;
            let hosts = 0..trace.processes();
            let placement: Vec<HostId> = hosts.map(HostId::from_index).collect();
            let place = (program.machine, program.platform);
            let time = |kind, queues| run(place, &trace, &placement, (kind, queues));
            all.push(Recorded {
                name: format!("{}, run {number}", program.name),
                median: program.median,
                quartiles: program.quartiles,
                machine: program.machine,
                platform: program.platform,
                predicted: time(BarrierKind::None, false)?,
                with_barriers: time(BarrierKind::Ideal, false)?,
                in_queues: time(BarrierKind::None, true)?,
            });
        }
    }
    Ok(all)
}
