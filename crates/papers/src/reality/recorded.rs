//! Comparison of predicted with measured times for programs that `migsim record` recorded: a Jacobi iteration and a molecular
//! dynamics simulation.
//!
//! The traces of these programs have no barriers. Their computation times were measured on the machine for which the times are
//! predicted. The comparison therefore shows how accurately a recorded trace is converted to times. It is not a forecast for
//! another machine.

use super::{Models, simulated_makespan};
use crate::packed::decompress_text;
use migsim_base::{
    error::{Error, Problem},
    units::HostId,
};
use migsim_bsp::BarrierKind;
use migsim_workloads::{Workload, trace::Trace};

struct RecordedProgram {
    name: &'static str,
    /// Index of the machine in [`MACHINES`].
    machine: usize,
    platform: &'static str,
    /// Median, first and third quartile of the execution times in 7 measured runs without the recorder, from `MPI_Init` to
    /// `MPI_Finalize` \[s\].
    measured_s: [f64; 3],
    traces: &'static [&'static [u8]],
}

/// Machines on which programs were recorded; each has a different overhead per message. On the first, hosts and network both
/// limit the rate of traffic; on the second and faster one, only the network does.
const MACHINES: [&str; 2] = ["first", "second"];

const HEAT: &str = "heat, 512 x 512, 60 iterations";
const MELT: &str = "LAMMPS melt, 4 000 atoms, 100 steps";

const PROGRAMS: [RecordedProgram; 5] = [
    RecordedProgram {
        name: HEAT,
        machine: 0,
        platform: "two",
        measured_s: [1.1758, 1.1683, 1.1771],
        traces: &[
            include_bytes!("heat-1.trace"),
            include_bytes!("heat-2.trace"),
            include_bytes!("heat-3.trace"),
        ],
    },
    RecordedProgram {
        name: MELT,
        machine: 0,
        platform: "two",
        measured_s: [3.8072, 3.7985, 3.8585],
        traces: &[
            include_bytes!("melt-1.trace.br"),
            include_bytes!("melt-2.trace.br"),
        ],
    },
    RecordedProgram {
        name: MELT,
        machine: 0,
        platform: "two-slow",
        measured_s: [12.2294, 12.1967, 12.2354],
        traces: &[
            include_bytes!("melt-slow-1.trace.br"),
            include_bytes!("melt-slow-2.trace.br"),
        ],
    },
    RecordedProgram {
        name: HEAT,
        machine: 1,
        platform: "two",
        measured_s: [1.1647, 1.1644, 1.1654],
        traces: &[
            include_bytes!("heat-second-1.trace"),
            include_bytes!("heat-second-2.trace"),
            include_bytes!("heat-second-3.trace"),
        ],
    },
    RecordedProgram {
        name: MELT,
        machine: 1,
        platform: "two",
        measured_s: [3.2337, 3.2136, 3.2640],
        traces: &[
            include_bytes!("melt-second-1.trace.br"),
            include_bytes!("melt-second-2.trace.br"),
        ],
    },
];

fn trace_text(file: &[u8]) -> Result<String, Error> {
    if !file.starts_with(b"migsim-trace") {
        return decompress_text(file);
    }
    String::from_utf8(file.to_vec()).map_err(|error| Problem::new(error.to_string()).into())
}

/// Predicts the times of all recorded runs, with the models of each machine: without barriers between the supersteps, with ideal
/// barriers, and with queues of packets. Returns a row of the table for each run.
pub(super) fn recorded_rows(models: &[Models; 2]) -> Result<Vec<String>, Error> {
    let mut rows = Vec::new();
    for program in &PROGRAMS {
        let [median, low, high] = program.measured_s;
        for (number, file) in (1..).zip(program.traces) {
            let trace = Trace::parse(program.name, &trace_text(file)?)?;
            let placement: Vec<HostId> = (0..trace.processes()).map(HostId::from_index).collect();
            let predict = |kind, queues| {
                let (mut network, mut runtime) = models[program.machine];
                runtime.barrier.kind = kind;
                network.queues = queues;
                let models = (network, runtime);
                simulated_makespan(program.platform, &trace, &placement, models)
            };
            let off = |time: f64| format!("{:+.1}", 100.0 * (time / median - 1.0));
            let time_and_off = |time: f64| format!("{time:.3} | {}", off(time));
            rows.push(format!(
                "{}, run {number} | {} | `{}` | {median:.3} | {low:.3} to {high:.3} | {} | {} | {}",
                program.name,
                MACHINES[program.machine],
                program.platform,
                time_and_off(predict(BarrierKind::None, false)?),
                off(predict(BarrierKind::Ideal, false)?),
                time_and_off(predict(BarrierKind::None, true)?),
            ));
        }
    }
    Ok(rows)
}
