//! Comparison of predictions with measurements: BSP programs that were run with Open MPI over TCP, and measured superstep by
//! superstep.
//!
//! ```text
//! pingpong.csv ─> calibrate ─> library ─┬─> cases: predicted and measured times
//! measured.json: traces ────────────────┼─> ablation: one effect after the other
//!                                       ├─> barriers: each algorithm
//! traces of `migsim record` ────────────┴─> recorded programs
//! ```
//! The library is the model of the MPI library; it is calibrated with the measured times in `pingpong.csv`. No other measured
//! time is an input of a simulation. For programs that were recorded on a second machine, the library is calibrated with
//! `pingpong-second.csv`.

mod page;
mod recorded;

use serde::Deserialize;

use migsim_base::{
    error::{Error, Problem},
    units::{HostId, ProcessId, Seconds},
};
use migsim_bsp::{BarrierKind, Costs, RuntimeConfig, Scenario, Setup, TransferStart, simulate};
use migsim_engine::{NetworkModel, Weights};
use migsim_experiment::{Calibration, MeasuredMessages, calibrate, library_models, read_pings};
use migsim_platform::{self as platform, Platform};
use migsim_policies::Never;
use migsim_workloads::{Workload, trace::Trace};

use page::{ablation_row, barrier_row};
pub use page::{csv_table, draw_figures, markdown_page};
use recorded::recorded_rows;

const BUILT_IN_PLATFORMS: [(&str, &str); 4] = [
    ("one", include_str!("one.json")),
    ("three", include_str!("three.json")),
    ("two", include_str!("two.json")),
    ("two-slow", include_str!("two-slow.json")),
];

#[derive(Debug, Deserialize)]
struct Measured {
    cases: Vec<MeasuredProgram>,
    barriers: Vec<BarrierCase>,
    variants: Vec<VariantCase>,
}

/// A measured program, with its trace and its measured times.
#[derive(Clone, Debug, Deserialize)]
pub struct MeasuredProgram {
    /// Name of the program.
    pub name: String,
    /// Class of the program by the resource on which it depends most: latency, bandwidth, mixed, computation or migration.
    pub class: String,
    /// Name of the platform on which the program was measured.
    pub platform: String,
    /// Whether the software that emulates the links delivered more than 5 % of the packets late, so that the measurement is less
    /// reliable.
    pub limited: bool,
    /// Median of the measured execution times of the program \[s\].
    pub median_s: f64,
    /// First and third quartile of the measured execution times of the program \[s\].
    pub quartiles_s: [f64; 2],
    trace: String,
}

#[derive(Debug, Deserialize)]
struct BarrierCase {
    kind: BarrierKind,
    case: String,
    median_s: f64,
}

#[derive(Debug, Deserialize)]
struct VariantCase {
    variant: String,
    median_s: f64,
}

/// A measured program with its predicted time.
#[derive(Clone, Debug)]
pub struct PredictedProgram {
    /// The measured program.
    pub case: MeasuredProgram,
    /// Simulated execution time of the program \[s\].
    pub simulated_s: f64,
}

impl PredictedProgram {
    /// Computes the relative error of the simulated time against the median of the measured times, as a fraction.
    pub fn relative_error(&self) -> f64 {
        self.simulated_s / self.case.median_s - 1.0
    }
}

/// Results of the comparison with measurements, from which the page and the figures are created.
#[derive(Debug)]
pub struct MeasurementComparison {
    measured_pings: Vec<MeasuredMessages>,
    calibration: Calibration,
    /// Calibrated parameters of the MPI library on the second machine.
    second_calibration: Calibration,
    /// Predicted times of all measured programs with all effects of the model.
    pub predicted_programs: Vec<PredictedProgram>,
    /// Rows of the tables of the page: effects of the model, barriers, and recorded programs.
    ablation_rows: Vec<String>,
    barrier_rows: Vec<String>,
    recorded_rows: Vec<String>,
    /// Measured times of the program `backbone-both` with variants of the network protocol.
    variants: Vec<VariantCase>,
}

/// Simulates all measured programs, and collects the simulated and the measured times.
///
/// # Errors
/// A file of the study cannot be read, or a measured program cannot be simulated. The files are compiled into this crate, so
/// these errors are faults of migsim.
pub fn compare_with_measurements() -> Result<MeasurementComparison, Error> {
    let measured: Measured =
        serde_json::from_str(include_str!("measured.json")).map_err(|error| {
            Problem::new(format!(
                "internal error: the built-in measurements (measured.json) cannot be read: {error}"
            ))
        })?;
    let two = built_in_platform("two")?;
    let calibrated = |name, table| -> Result<_, Error> {
        let pings = read_pings(name, table, &two, None)?;
        let calibration = calibrate(&two, &pings, "open-mpi", ("calibrated", name))?;
        let models = library_models(&calibration.library_json)?;
        Ok((pings, calibration, models))
    };
    let (measured_pings, calibration, models) =
        calibrated("pingpong.csv", include_str!("pingpong.csv"))?;
    let (_, second_calibration, second_models) =
        calibrated("pingpong-second.csv", include_str!("pingpong-second.csv"))?;
    let predict = |models: &Models| -> Result<Vec<PredictedProgram>, Error> {
        let cases = measured.cases.iter().map(|case| {
            let simulated_s = simulated_time(case, models)?.0;
            let case = case.clone();
            Ok(PredictedProgram { case, simulated_s })
        });
        cases.collect()
    };
    let ablation_rows = ablation_steps(models).into_iter();
    let ablation_rows =
        ablation_rows.map(|(name, models)| Ok(ablation_row(name, &predict(&models)?)));
    let barrier_rows = measured.barriers.iter().map(|one| {
        let case = measured.cases.iter().find(|case| case.name == one.case);
        let case = case.ok_or_else(|| Problem::new(format!("internal error: the built-in measurements name the case `{}`, which they do not have", one.case)))?;
        let mut models = models;
        models.1.barrier.kind = one.kind;
        let (time, supersteps) = simulated_time(case, &models)?;
        Ok(barrier_row(one, time, supersteps))
    });
    Ok(MeasurementComparison {
        measured_pings,
        calibration,
        second_calibration,
        predicted_programs: predict(&models)?,
        ablation_rows: ablation_rows.collect::<Result<_, Error>>()?,
        barrier_rows: barrier_rows.collect::<Result<_, Error>>()?,
        recorded_rows: recorded_rows(&[models, second_models])?,
        variants: measured.variants,
    })
}

/// Lists the models for the steps of the ablation, with their names: effects are first added one after the other, and then left
/// out one at a time.
fn ablation_steps(
    (network, runtime): (NetworkModel, RuntimeConfig),
) -> Vec<(&'static str, Models)> {
    let plain = NetworkModel {
        weights: Weights::Equal,
        ..NetworkModel::default()
    };
    let mut models = (plain, RuntimeConfig::default());
    let mut all = vec![("duplex links, equal shares, ideal barrier", models)];
    models.1.barrier = runtime.barrier;
    all.push(("+ barrier of the library", models));
    models.0.overhead = network.overhead;
    all.push(("+ overhead per message", models));
    models.0.bandwidth_factor = network.bandwidth_factor;
    all.push(("+ bandwidth factor", models));
    models.0.packet = network.packet;
    all.push(("+ store and forward", models));
    models.1.receives = runtime.receives;
    all.push(("+ late receives over 64 KiB", models));
    models.0.slow_start = network.slow_start;
    all.push(("+ slow start: `open-mpi`", models));
    // Then take the effects away again.
    models.0.weights = Weights::Latency;
    all.push(("all, but shares by latency (`cm02`)", models));
    models.0.weights = Weights::Equal;
    models.1.barrier.kind = BarrierKind::Ideal;
    all.push(("all, but an ideal barrier", models));
    models.1.barrier.kind = runtime.barrier.kind;
    models.0.overhead = Seconds::default();
    all.push(("all, but no overhead", models));
    models.0.overhead = network.overhead;
    models.1.receives = TransferStart::Early;
    all.push(("all, but no late receives", models));
    models.1.receives = runtime.receives;
    models.0.queues = true;
    all.push(("all, but packets in queues", models));
    all
}

/// Models that form the model of the MPI library: the network model for messages, and the settings of the runtime with its
/// barrier.
type Models = (NetworkModel, RuntimeConfig);

/// Simulates a measured program; returns its simulated time \[s\] and its number of supersteps.
fn simulated_time(case: &MeasuredProgram, models: &Models) -> Result<(f64, f64), Error> {
    let platform = built_in_platform(&case.platform)?;
    let trace = Trace::parse(&case.name, &case.trace)?;
    let place = |process| {
        let name = trace.initial_host(ProcessId::from_index(process))?;
        platform.host_named(name)
    };
    let placement: Option<Vec<HostId>> = (0..trace.processes()).map(place).collect();
    let placement = placement.ok_or_else(|| {
        Problem::new("internal error: a process of the built-in measurements has no host")
    })?;
    let time = simulated_makespan(&case.platform, &trace, &placement, *models)?;
    Ok((time, trace.supersteps() as f64))
}

/// Simulates the trace of a program on a platform; returns the makespan of scenario i \[s\].
fn simulated_makespan(
    platform: &str,
    workload: &Trace,
    placement: &[HostId],
    (network, runtime): Models,
) -> Result<f64, Error> {
    let platform = built_in_platform(platform)?;
    let setup = Setup {
        platform: &platform,
        network,
        workload,
        placement,
        runtime,
        costs: Costs::default(),
        view: migsim_bsp::ViewConfig::default(),
        scenario: Scenario::I,
        seed: 1,
        memo: None,
    };
    let outcome = simulate(&setup, Box::new(Never {}), &mut ())?;
    Ok(outcome.makespan.get())
}

fn built_in_platform(name: &str) -> Result<Platform, Error> {
    let found = BUILT_IN_PLATFORMS.iter().find(|(known, _)| *known == name);
    let names = BUILT_IN_PLATFORMS.iter().map(|(known, _)| *known);
    let (_, text) = found.ok_or_else(|| {
        Problem::unknown_name("platform", name).with_known_names("platforms", names)
    })?;
    Ok(platform::from_json(name, text)?.platform)
}
