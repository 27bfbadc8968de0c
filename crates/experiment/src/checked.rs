//! The seam between migsim and an application: everything that an application returns is checked here once, in every build, so
//! that the simulation can rely on it. The settings may then disturb or scale it.
//!
//! A plan with a wrong length, a process that does not exist or a quantity that is NaN, negative or infinite, and a panic of the
//! application, become the application's [failure](Workload::failure), which names the application, the superstep and the
//! process. The plan is then empty, and the run ends at this superstep.
//!
//! ```text
//! work of process i in superstep t:  w_i(t) · f_i(t)     f uniform in 1 ± √3·noise (standard deviation: noise)
//! ```
//! Here `w_i(t)` is the work that the application states, and `noise` the value of the key `runtime.noise`: disturbances such as
//! those that other programs, caches and clock rates cause on real machines. A deterministic run gives one makespan, and any
//! difference between two policies looks significant. With `runtime.noise=0.01` and several seeds, a difference is significant only
//! if it is larger than the effect of such disturbances. The factors of each superstep come from a separate random stream
//! ([`StreamPurpose::ComputationNoise`]), so that the work is the same for all policies.

use std::sync::OnceLock;

use migsim_base::{
    error::{Error, Problem, catch_panic},
    random::{Stream, StreamPurpose},
    units::{Bytes, Instructions, ProcessId, Seconds},
};
use migsim_workloads::{
    ApplicationSize, Plan, PrescribedMigration, VtLabels, Workload, registry::BuiltWorkload,
};

/// The key of an experiment that sets the relative standard deviation of the random factors on the work.
const NOISE_KEY: &str = "runtime.noise";

/// Maximum value of `runtime.noise`; with a value above 1/√3, a factor on the work could be negative.
const MAX_NOISE: f64 = 0.5;

/// An application whose answers are checked.
#[derive(Debug)]
pub(super) struct CheckedWorkload {
    pub built: BuiltWorkload,
    name: &'static str,
    /// The processes of the application when it was created.
    processes: usize,
    /// The first fault of the application in this experiment.
    fault: OnceLock<Problem>,
    /// Relative standard deviation of the random factors on the work, and the seed of these factors.
    noise: f64,
    noise_seed: u64,
    /// Maximum number of supersteps.
    pub(super) most: usize,
    scaling: Option<Scaling>,
}

/// The factors by which a change of the experiment multiplies quantities of its application.
#[derive(Debug)]
struct Scaling {
    /// Fraction of the total work of a superstep that each process would have if the superstep were balanced.
    balanced_shares: Vec<f64>,
    /// Factor of the deviation of the work of each process from its work in a balanced superstep.
    imbalance: f64,
    memory: f64,
    /// The moves that the application prescribes, by superstep, with size and delay multiplied by the memory factor; empty if the
    /// application prescribes no moves.
    moves: Vec<Vec<PrescribedMigration>>,
}

impl CheckedWorkload {
    /// Checks what the application `name` says of itself, and returns the application with checked answers.
    ///
    /// # Errors
    /// The application has no process, or a quantity that is NaN, negative or infinite, or it panics.
    pub(super) fn new(name: &'static str, built: BuiltWorkload) -> Result<Self, Problem> {
        match catch_panic(|| find_fault_of_size(&*built.workload))
            .unwrap_or_else(|text| Some(format!("it panics: {text}")))
        {
            Some(fault) => Err(problem(name, "at its start", &fault)),
            None => Ok(Self {
                name,
                processes: built.workload.processes(),
                built,
                fault: OnceLock::new(),
                noise: 0.0,
                noise_seed: 0,
                most: usize::MAX,
                scaling: None,
            }),
        }
    }

    /// Multiplies the work of each process in each superstep by a random factor with this standard deviation.
    ///
    /// # Errors
    /// The noise is negative or too large.
    pub(super) fn add_noise(&mut self, noise: f64, seed: u64) -> Result<(), Problem> {
        (self.noise, self.noise_seed) = (noise, seed);
        if (0.0..=MAX_NOISE).contains(&noise) {
            return Ok(());
        }
        let message = format!("`{NOISE_KEY}` is {noise}; it must be from 0 to {MAX_NOISE}");
        Err(Problem::new(message)
            .key(NOISE_KEY)
            .hint("choose a value in this range, such as 0.01"))
    }

    /// Multiplies the deviation of the work of each process from its balanced share by `imbalance`, and the memory of each process
    /// by `memory`.
    pub(super) fn scale(&mut self, balanced_shares: Vec<f64>, imbalance: f64, memory: f64) {
        let scaled = |one: &PrescribedMigration| PrescribedMigration {
            transferred_bytes: Bytes::of(one.transferred_bytes.get() * memory),
            wait_after_transfer: Seconds::of(one.wait_after_transfer.get() * memory),
            ..one.clone()
        };
        let supersteps = if self.prescribes_moves() {
            self.supersteps()
        } else {
            0
        };
        let moves = (0..supersteps).map(|superstep| {
            self.prescribed_moves(superstep)
                .iter()
                .map(scaled)
                .collect()
        });
        self.scaling = Some(Scaling {
            moves: moves.collect(),
            balanced_shares,
            imbalance,
            memory,
        });
    }

    /// Applies noise and scaling to the plan of a superstep.
    fn adjust(&self, superstep: usize, plan: &mut Plan) {
        if self.noise > 0.0 {
            let seed = self.noise_seed;
            let purpose = StreamPurpose::ComputationNoise;
            let mut random = Stream::for_superstep(seed, purpose, superstep as u64);
            for work in &mut plan.work {
                let factor =
                    1.0 + 3.0_f64.sqrt() * self.noise * random.draw_from_minus_one_to_one();
                *work = Instructions::of(work.get() * factor);
            }
        }
        if let Some(scaling) = self.scaling.as_ref().filter(|one| one.imbalance != 1.0) {
            let total: f64 = plan.work.iter().map(|work| work.get()).sum();
            for (work, share) in plan.work.iter_mut().zip(&scaling.balanced_shares) {
                let balanced = total * share;
                let changed = balanced + (work.get() - balanced) * scaling.imbalance;
                *work = Instructions::of(changed.max(0.0));
            }
        }
    }

    /// Calls the application; its panic, and what `check` finds in the answer, become its failure.
    fn ask<'s, R>(
        &'s self,
        place: impl FnOnce() -> String,
        call: impl FnOnce(&'s dyn Workload) -> R,
        check: impl FnOnce(&R) -> Option<String>,
    ) -> Option<R> {
        let answer = catch_panic(|| call(&*self.built.workload));
        let fault = match &answer {
            Ok(answer) => check(answer),
            Err(text) => Some(format!("it panics: {text}")),
        };
        if let Some(fault) = &fault {
            let _ = self.fault.set(problem(self.name, &place(), fault));
        }
        answer.ok().filter(|_| fault.is_none())
    }
}

fn problem(name: &str, place: &str, fault: &str) -> Problem {
    Problem::new(format!(
        "the application `{name}` has a fault {place}: {fault}"
    ))
    .key("workload.app")
    .hint(format!("correct the code of the application `{name}`"))
}

fn in_superstep(superstep: usize) -> String {
    format!("in superstep {}", superstep + 1)
}

/// Whether a quantity of an application can be simulated. Units turn NaN and infinity into the largest number in builds without
/// debug assertions.
fn is_amount(value: f64) -> bool {
    (0.0..f64::MAX).contains(&value)
}

/// Returns what is wrong with the size and the speed that an application states before it is run.
fn find_fault_of_size(workload: &dyn Workload) -> Option<String> {
    let processes = workload.processes();
    let cycles = workload.cycles_per_instruction();
    if processes == 0 || u32::try_from(processes).is_err() {
        return Some(format!("it has {processes} processes"));
    }
    if !(cycles > 0.0 && is_amount(cycles)) {
        return Some(format!("it needs {cycles} cycles per instruction"));
    }
    let size = workload.extent();
    let is_right = is_amount(size.max_messages) && is_amount(size.data_bytes);
    (!is_right).then(|| format!("its size is {size:?}"))
}

/// Returns what is wrong with the plan of a superstep of `processes` processes. It is called in each superstep: what is right is
/// found in one pass.
fn find_fault_of_plan(plan: &Plan, processes: usize) -> Option<String> {
    if plan.work.len() != processes {
        let count = plan.work.len();
        return Some(format!(
            "the plan has the work of {count} processes instead of {processes}"
        ));
    }
    let works = plan.work.iter().all(|work| is_amount(work.get()));
    let is_right = |from: ProcessId, to: ProcessId, size: Bytes| {
        (from.index() < processes) & (to.index() < processes) & is_amount(size.get())
    };
    let mut messages = plan.messages.iter();
    if works && messages.all(|message| is_right(message.from, message.to, message.size)) {
        return None;
    }
    let work = plan.work.iter().position(|work| !is_amount(work.get()));
    if let Some(process) = work {
        let work = plan.work[process].get();
        return Some(format!(
            "the work of process {} is {work} instr",
            process + 1
        ));
    }
    let mut messages = plan.messages.iter();
    let wrong = messages.find(|message| !is_right(message.from, message.to, message.size))?;
    let (from, to) = (u64::from(wrong.from.0) + 1, u64::from(wrong.to.0) + 1);
    let size = wrong.size.get();
    Some(format!(
        "process {from} sends {size} B to process {to}, of {processes} processes"
    ))
}

impl Workload for CheckedWorkload {
    fn processes(&self) -> usize {
        self.built.workload.processes()
    }

    fn supersteps(&self) -> usize {
        self.built.workload.supersteps().min(self.most)
    }

    fn extent(&self) -> ApplicationSize {
        self.built.workload.extent()
    }

    fn is_memory_known(&self, process: ProcessId) -> bool {
        self.built.workload.is_memory_known(process)
    }

    fn initial_host(&self, process: ProcessId) -> Option<&str> {
        self.built.workload.initial_host(process)
    }

    fn initial_rank(&self, process: ProcessId) -> Option<usize> {
        self.built.workload.initial_rank(process)
    }

    fn is_movable(&self, process: ProcessId) -> bool {
        self.built.workload.is_movable(process)
    }

    fn labels(&self) -> Option<&VtLabels> {
        self.built.workload.labels()
    }

    fn prescribes_moves(&self) -> bool {
        self.built.workload.prescribes_moves()
    }

    fn cycles_per_instruction(&self) -> f64 {
        self.built.workload.cycles_per_instruction()
    }

    fn fill(&self, superstep: usize, plan: &mut Plan) {
        let fill = |workload: &dyn Workload| {
            workload.fill(superstep, plan);
            find_fault_of_plan(plan, self.processes)
        };
        match self.ask(|| in_superstep(superstep), fill, Clone::clone) {
            Some(_) => self.adjust(superstep, plan),
            None => plan.clear(self.processes),
        }
    }

    fn repeats(&self, superstep: usize) -> bool {
        let repeats = |workload: &dyn Workload| workload.repeats(superstep);
        superstep > 0
            && self.noise == 0.0
            && self
                .ask(|| in_superstep(superstep), repeats, |_| None)
                .unwrap_or(false)
    }

    fn memory(&self, process: ProcessId) -> Bytes {
        let check = |bytes: &Bytes| {
            (!is_amount(bytes.get())).then(|| format!("its memory is {} B", bytes.get()))
        };
        let place = || format!("in process {}", process.index() + 1);
        let memory = self.ask(place, |workload| workload.memory(process), check);
        let factor = self.scaling.as_ref().map_or(1.0, |one| one.memory);
        Bytes::of(memory.unwrap_or_default().get() * factor)
    }

    fn memory_changes(&self, superstep: usize) -> Vec<(ProcessId, Bytes)> {
        let is_wrong = |(process, size): &&(ProcessId, Bytes)| {
            process.index() >= self.processes || !is_amount(size.get())
        };
        let check = |changes: &Vec<(ProcessId, Bytes)>| {
            let wrong = changes.iter().find(is_wrong)?;
            Some(format!("the memory of a process becomes {wrong:?}"))
        };
        let changes = |workload: &'_ dyn Workload| workload.memory_changes(superstep);
        let changes = self.ask(|| in_superstep(superstep), changes, check);
        let factor = self.scaling.as_ref().map_or(1.0, |one| one.memory);
        changes
            .unwrap_or_default()
            .into_iter()
            .map(|(process, size): (ProcessId, Bytes)| (process, size * factor))
            .collect()
    }

    fn prescribed_moves(&self, superstep: usize) -> &[PrescribedMigration] {
        if let Some(scaling) = &self.scaling {
            return scaling.moves.get(superstep).map_or(&[], Vec::as_slice);
        }
        let is_wrong = |one: &&PrescribedMigration| {
            one.process.index() >= self.processes
                || !is_amount(one.transferred_bytes.get())
                || !is_amount(one.wait_after_transfer.get())
        };
        self.ask(
            || in_superstep(superstep),
            |workload| workload.prescribed_moves(superstep),
            |moves| {
                let wrong = moves.iter().find(is_wrong);
                wrong.map(|wrong| format!("it prescribes {wrong:?}"))
            },
        )
        .unwrap_or_default()
    }

    fn failure(&self) -> Option<Error> {
        self.fault
            .get()
            .cloned()
            .map(Error::SimulationFailure)
            .or_else(|| self.built.workload.failure())
    }

    fn uses_seed(&self) -> bool {
        self.noise > 0.0 || self.built.workload.uses_seed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Experiment, Layers, Limits};
    use serde_json::json;

    #[test]
    fn a_plan_is_refused_with_the_process_that_is_wrong() {
        let fault = |change: fn(&mut Plan)| {
            let mut plan = Plan::default();
            plan.clear(2);
            plan.send(0, 1, Bytes::of(8.0));
            change(&mut plan);
            find_fault_of_plan(&plan, 2).unwrap_or_default()
        };
        assert_eq!(fault(|_| {}), "");
        // What the units let pass, which is all in a build without debug assertions.
        let infinite = fault(|plan| plan.work[1] = Instructions::of(f64::INFINITY));
        assert!(
            infinite.starts_with("the work of process 2 is"),
            "{infinite}"
        );
        let negative = fault(|plan| plan.messages[0].size = Bytes::of(8.0) * -1.0);
        assert_eq!(
            negative,
            "process 1 sends -8 B to process 2, of 2 processes"
        );
        let absent = fault(|plan| plan.send(1, 2, Bytes::of(8.0)));
        assert_eq!(absent, "process 2 sends 8 B to process 3, of 2 processes");
        let short = fault(|plan| plan.work.truncate(1));
        assert_eq!(short, "the plan has the work of 1 processes instead of 2");
    }

    fn works(noise: f64, seed: u64, policy: &str) -> Vec<Vec<f64>> {
        let settings = [
            ("workload", json!({ "app": "lu", "n": 20, "procs": 4 })),
            ("runtime.noise", json!(noise)),
            ("seed", json!(seed)),
            ("policy.name", json!(policy)),
        ];
        let experiment =
            Experiment::load(&Layers::from_pairs(settings), Limits::default()).unwrap();
        assert_eq!(experiment.uses_seed(), noise > 0.0);
        let workload = &experiment.workload;
        let mut plan = Plan::default();
        let mut work = |superstep| {
            plan.clear(workload.processes());
            workload.fill(superstep, &mut plan);
            plan.work.iter().map(|work| work.get()).collect()
        };
        (0..workload.supersteps()).map(&mut work).collect()
    }

    #[test]
    fn work_is_disturbed_by_the_seed_alone_and_by_the_given_deviation() {
        let plain = works(0.0, 1, "refine");
        let noisy = works(0.02, 1, "refine");
        assert_eq!(noisy, works(0.02, 1, "never"));
        assert_ne!(noisy, works(0.02, 2, "refine"));
        let pairs = plain.iter().flatten().zip(noisy.iter().flatten());
        let errors = pairs.filter(|(work, _)| **work > 0.0);
        let errors: Vec<f64> = errors
            .map(|(work, disturbed)| disturbed / work - 1.0)
            .collect();
        assert!(
            errors
                .iter()
                .all(|error| error.abs() <= 0.02 * 3.0_f64.sqrt())
        );
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        let deviation = (squares / errors.len() as f64).sqrt();
        // The standard error of the deviation of a uniform distribution is about 0.45/√n of it.
        let margin = 4.0 * 0.45 / (errors.len() as f64).sqrt();
        assert!(
            (deviation / 0.02 - 1.0).abs() < margin,
            "{deviation}, {}",
            errors.len()
        );
    }

    #[test]
    fn a_noise_out_of_range_is_refused() {
        let settings = [("workload.app", json!("sw")), ("runtime.noise", json!(0.6))];
        let error = Experiment::load(&Layers::from_pairs(settings), Limits::default()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("it must be from 0 to 0.5"), "{text}");
    }
}
