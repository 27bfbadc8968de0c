//! Simulation of whole runs of the authors' program. The start times of process 1, the end time, and the moves of each call are
//! compared with the stored run.
//!
//! The settings are those of the built-in experiment `authors-cpu`, with the parameters, the placement and the Sets (clusters) of
//! the stored run. No result of the program is an input of the simulation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ties::{PotentialsComparison, ReportTable, compare_potentials};
use crate::runs::PaperCase;
use migsim_base::error::{Error, Problem};
use migsim_base::units::{HostId, Time};
use migsim_bsp::{Measures, Recorder, RunOutcome, Scenario, SuperstepBeginnings};
use migsim_experiment::Progress;
use migsim_platform::Platform;

/// Built-in experiment with the settings that all stored runs of the program have in common.
const BASE_EXPERIMENT: &str = "authors-cpu";
/// Maximum relative difference of two times that count as equal (a fraction). Stored start times have 7 digits, and stored end
/// times have more.
const TIME_TOLERANCE: f64 = 1e-6;

/// Comparison of a stored whole run of the authors' program with the simulated run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparedRun {
    /// Name of the stored run (case), as in its file.
    pub case: String,
    /// Scenario of the run: `i`, `ii` or `iii`.
    pub scenario: String,
    /// Time at which process 1 of the program leaves its last call or barrier \[s\].
    pub program_s: f64,
    /// Time at which process 1 of the simulated run leaves its last call or barrier \[s\].
    pub simulated_s: f64,
    /// Relative error of the simulated end time, as a fraction: (simulated time - program's time) / program's time.
    pub relative_error: f64,
    /// Number of supersteps at the beginning of the run, before the first superstep whose start time of process 1 differs between
    /// program and simulation by more than the fraction 1e-6.
    pub starts_equal: usize,
    /// Number of supersteps of the run.
    pub supersteps: usize,
    /// Number of rescheduling calls before the first call that decides other moves in the simulation than in the program. Moves
    /// to different hosts are different. In scenario ii the moves are decided but not carried out.
    pub calls_equal: usize,
    /// Number of rescheduling calls in the run.
    pub calls: usize,
    /// Number of moves that the program decided in the whole run.
    pub program_moves: usize,
    /// Number of moves that the simulated run decided in the whole run.
    pub simulated_moves: usize,
    /// Comparison of the potentials of migration in the first call with other moves; `None` if all moves are equal or the
    /// program's reports for this call are not stored.
    pub tie: Option<PotentialsComparison>,
}

impl ComparedRun {
    /// Returns whether program and simulation agree in the end time of process 1, to a relative difference of 1e-6.
    pub fn is_makespan_equal(&self) -> bool {
        self.relative_error.abs() <= TIME_TOLERANCE
    }
}

/// Part of a case file from which a whole run of the program is simulated and compared.
#[derive(Debug, Deserialize)]
struct StoredRun {
    case: String,
    scenario: Scenario,
    heuristic: String,
    parameters: Parameters,
    sets: Vec<Set>,
    placement: Vec<String>,
    superstep_starts_of_process_1: Vec<f64>,
    end: f64,
    #[serde(default)]
    calls: Vec<Call>,
}

#[derive(Debug, Deserialize)]
struct Parameters {
    processes: usize,
    supersteps: usize,
    instructions: f64,
    message_bytes: f64,
    alpha: u32,
    d: f64,
    pattern_margin: f64,
    x: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Set {
    prefix: String,
    hosts: u32,
    power: f64,
}

#[derive(Debug, Deserialize)]
struct Call {
    superstep: u64,
    decided_moves: MoveTable,
    #[serde(default)]
    reports: Option<ReportTable>,
}

/// Table of the moves that a call decided; a row has the rank of the process, its new Set, its new host, and the time of the
/// move.
#[derive(Debug, Deserialize)]
struct MoveTable {
    rows: Vec<(usize, usize, String, Value)>,
}

/// Simulates the run of a case, given as JSON, and compares the run with the stored times and moves. Returns `None` if the case
/// does not contain the end time of its run.
///
/// # Errors
/// The JSON value is not a case, or names a part that the platform does not have.
pub fn simulate_and_compare_run(case: &Value) -> Result<Option<ComparedRun>, Error> {
    if case.get("end").is_none() {
        return Ok(None);
    }
    let stored = StoredRun::deserialize(case).map_err(|error| {
        let problem = Problem::new(format!("the run of the case cannot be read: {error}"));
        problem.hint(
            "write all of `placement`, `superstep_starts_of_process_1` and `end`, if the case has a whole run",
        )
    })?;
    let experiment = settings_of_stored_run(&stored)?.load_experiment()?;
    let mut dates = FirstProcessStarts::default();
    let progress = Progress::default();
    let run = experiment.run_scenario(stored.scenario, &progress, &mut dates, None)?;
    let simulated = end_time_of_first_process(&run.outcome).get();
    let starts = stored.superstep_starts_of_process_1.iter().zip(&dates.0);
    let are_equal =
        |(program, ours): &(&f64, &f64)| (*ours - *program).abs() <= TIME_TOLERANCE * **program;
    let platform = &experiment.platform.platform;
    let calls = stored.calls.iter().zip(&run.outcome.calls);
    let same = |(program, ours): &(&Call, &migsim_bsp::CallRecord)| {
        program_moves(program) == simulated_moves(ours, platform)
    };
    let calls_equal = calls.clone().take_while(same).count();
    let other = calls.clone().nth(calls_equal);
    let tie = other.and_then(|(program, ours)| {
        let reports = program.reports.as_ref()?;
        compare_potentials(program.superstep, reports, ours)
    });
    let decisions = run.outcome.calls.iter().map(|call| &call.decision);
    Ok(Some(ComparedRun {
        case: stored.case.clone(),
        scenario: stored.scenario.name().to_owned(),
        program_s: stored.end,
        simulated_s: simulated,
        relative_error: simulated / stored.end - 1.0,
        starts_equal: starts.take_while(are_equal).count(),
        supersteps: stored.parameters.supersteps,
        calls_equal,
        calls: stored.calls.len(),
        program_moves: stored
            .calls
            .iter()
            .map(|call| call.decided_moves.rows.len())
            .sum(),
        simulated_moves: decisions.map(|decision| decision.migrations.len()).sum(),
        tie,
    }))
}

/// Creates the settings of a simulated run: the built-in experiment with the parameters, the placement and the Sets of the stored
/// run.
fn settings_of_stored_run(stored: &StoredRun) -> Result<PaperCase, Problem> {
    let StoredRun {
        parameters, sets, ..
    } = stored;
    let hosts = stored
        .placement
        .iter()
        .map(|name| simulated_host_name(name));
    let hosts: Vec<String> = hosts.collect::<Result<_, _>>()?;
    let set = |set: &Set| {
        let power = format!("{} Hz", set.power);
        json!({ "cluster": set.prefix, "hosts": set.hosts, "power": power })
    };
    let sets: Vec<Value> = sets.iter().map(set).collect();
    let instructions = format!("{} instr", parameters.instructions);
    let mut case = PaperCase::new(BASE_EXPERIMENT)
        .with_setting("workload.procs", parameters.processes)
        .with_setting("workload.supersteps", parameters.supersteps)
        .with_setting("workload.instructions", instructions)
        .with_setting("workload.bytes", format!("{} B", parameters.message_bytes))
        .with_setting("mapping", hosts)
        .with_setting("policy.authors-2015.alpha", parameters.alpha)
        .with_setting("policy.authors-2015.d", parameters.d)
        .with_setting(
            "policy.authors-2015.pattern_margin",
            parameters.pattern_margin,
        )
        .with_setting("policy.authors-2015.sets", sets);
    if let Some(x) = parameters.x {
        case = case.with_setting("policy.authors-2015.x", x);
    }
    if stored.heuristic != "none" {
        case = case.with_setting("policy.authors-2015.heuristic", stored.heuristic.as_str());
    }
    Ok(case)
}

/// Returns the name of the same host on the simulated platform, where hosts are numbered from 0: the program's `suno-1` is
/// `suno-0`.
///
/// # Errors
/// The name does not end with a number of at least 1.
fn simulated_host_name(name: &str) -> Result<String, Problem> {
    let parts = name.rsplit_once('-');
    let number = parts.and_then(|(cluster, number)| {
        let number: u32 = number.parse().ok()?;
        Some((cluster, number.checked_sub(1)?))
    });
    let (cluster, number) = number.ok_or_else(|| {
        Problem::new(format!(
            "`{name}` is not a host as the authors' program writes it"
        ))
        .hint("write a host as its cluster and its number, such as `suno-1`")
    })?;
    Ok(format!("{cluster}-{number}"))
}

/// Lists the moves that a call of the program decided: the rank of the process (from 1) and the name of its new host. The list is
/// sorted by rank.
fn program_moves(call: &Call) -> Vec<(usize, String)> {
    let rows = call.decided_moves.rows.iter();
    let moves =
        rows.filter_map(|(rank, _, host, _)| Some((*rank, simulated_host_name(host).ok()?)));
    sorted_by_rank(moves.collect())
}

/// Lists the moves that a call of the simulated run decided: the rank of the process (from 1) and the name of its new host. The
/// list is sorted by rank.
fn simulated_moves(call: &migsim_bsp::CallRecord, platform: &Platform) -> Vec<(usize, String)> {
    let migrations = call.decision.migrations.iter();
    let name = |host: HostId| platform.hosts[host.index()].name.clone();
    sorted_by_rank(
        migrations
            .map(|moved| (moved.process.index() + 1, name(moved.to)))
            .collect(),
    )
}

fn sorted_by_rank(mut moves: Vec<(usize, String)>) -> Vec<(usize, String)> {
    moves.sort();
    moves
}

/// Returns the time \[s\] at which process 1 leaves the last barrier, or the last rescheduling call if a call follows this
/// barrier.
fn end_time_of_first_process(outcome: &RunOutcome) -> Time {
    let last = outcome.supersteps.len() - 1;
    let call = outcome.calls.last().filter(|call| call.superstep == last);
    let answered = call.and_then(|call| call.answer_times.first().copied());
    answered.unwrap_or(outcome.supersteps[last].end)
}

/// Recorder that stores the time \[s\] at which process 1 begins each superstep.
#[derive(Debug, Default)]
struct FirstProcessStarts(Vec<f64>);

impl Recorder for FirstProcessStarts {
    fn on_beginnings(&mut self, beginnings: SuperstepBeginnings<'_>) {
        let after = beginnings.begin_delays.first().copied().unwrap_or(0.0);
        self.0.push(beginnings.local_time_origin.get() + after);
    }

    fn on_superstep(&mut self, _: usize, _: &Measures, _: &[HostId]) {}
}
