//! The common part of the commands that simulate many runs: `sweep`, `tune`, `compare` and `bench`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::ThreadPool;
use serde_json::Value;

use super::args::{MemoryArguments, OutputAndThreadArguments};
use super::memory_limit::memory_and_thread_limits;
use super::print::{print_line, print_notes, print_result};
use super::progress::{ProgressDisplay, run_with_progress_and_farewell};
use super::threads::start_planning_threads;
use crate::error::{Error, escape_control_characters};
use crate::experiment::Limits;
use crate::memory::ExperimentPurpose;
use crate::output::Sheet;
use crate::policy::log_error_output_to;
use crate::sweep::folder::{check_earlier_plan_is_part, write_plan};
use crate::sweep::run::{missing_runs, simulate_runs};
use crate::sweep::{FinishedRunCounter, Plan, Shard, SharedRunData, Store, Sweep};
use crate::words::format_count;

/// The file of a folder with the error output of the programs that are policies (`exec`).
pub(super) const PROGRAM_LOG: &str = "exec.log";

/// The limits, the threads and the shared data of a command that simulates many runs.
#[derive(Debug)]
pub(super) struct SimulationSetup {
    /// Limits on the memory of the runs, and on what files may do.
    pub(super) limits: Limits,
    /// The threads on which the runs are simulated.
    pub(super) threads: ThreadPool,
    /// Data that all runs share, such as files that were read.
    pub(super) shared_run_data: SharedRunData,
    /// The folder that keeps the results; `None` if they are lost when the command ends.
    folder: Option<PathBuf>,
    output: OutputAndThreadArguments,
}

impl SimulationSetup {
    /// Prepares the limits and the threads that the flags request. Results are kept in `folder`.
    pub(super) fn new(
        memory: &MemoryArguments,
        output: OutputAndThreadArguments,
        folder: Option<&Path>,
    ) -> Result<Self, Error> {
        let limits = memory_and_thread_limits(memory, output.threads, ExperimentPurpose::Sweep);
        Ok(Self {
            limits,
            threads: start_planning_threads(output.threads, limits)?,
            shared_run_data: SharedRunData::default(),
            folder: folder.map(Path::to_owned),
            output,
        })
    }

    /// Returns the limits together with the data that all runs share; functions that simulate runs take both as one argument.
    pub(super) fn limits_and_shared_run_data(&self) -> (Limits, &SharedRunData) {
        (self.limits, &self.shared_run_data)
    }

    /// Creates the plan of a sweep, which lists its runs, and prints notes about it.
    pub(super) fn plan_with_notes(
        &self,
        sweep: &Sweep,
        errors: &mut dyn Write,
    ) -> Result<Plan, Error> {
        let plan = self.plan_without_notes(sweep)?;
        self.print_notes(&plan.notes, errors);
        Ok(plan)
    }

    /// Creates the plan of a sweep with the settings with which all others are compared, and prints notes about it.
    pub(super) fn plan_with_baselines(
        &self,
        sweep: &Sweep,
        errors: &mut dyn Write,
    ) -> Result<Plan, Error> {
        let plan = self.plan_without_notes(sweep)?;
        let add = || plan.with_baselines(sweep, self.limits, &self.shared_run_data);
        let plan = self.threads.install(add)?;
        self.print_notes(&plan.notes, errors);
        Ok(plan)
    }

    /// Creates the plan of a sweep, which lists its runs, without printing notes. It is used for sweeps that the command itself
    /// defines, not the user.
    pub(super) fn plan_without_notes(&self, sweep: &Sweep) -> Result<Plan, Error> {
        let plan = || Plan::new_with_shared_data(sweep, self.limits, &self.shared_run_data);
        self.threads.install(plan)
    }

    /// Prints notes for the user; prints nothing if the user requested no output (`--quiet`).
    pub(super) fn print_notes(&self, notes: &[String], errors: &mut dyn Write) {
        if !self.output.quiet {
            print_notes(notes, errors);
        }
    }

    /// Opens the store with the results of runs in the folder, or creates a store in memory. Prints how many damaged records were
    /// removed from the store.
    pub(super) fn open_store(&self, errors: &mut dyn Write) -> Result<Store, Error> {
        let folder = self.folder.as_deref();
        let store = folder.map_or_else(|| Ok(Store::in_memory()), Store::open)?;
        if let Some(folder) = folder {
            log_error_output_to(folder.join(PROGRAM_LOG));
        }
        if store.dropped_line_count > 0 && !self.output.quiet {
            let lost = format_count(store.dropped_line_count, "record");
            let text = "that were cut off or damaged; these runs are simulated again";
            print_line(errors, &format!("note: removed {lost} of runs {text}"));
        }
        Ok(store)
    }

    /// Simulates the runs of a part of a plan that the folder lacks, and returns the store with all results.
    ///
    /// # Errors
    /// The folder has results of another plan, or cannot be written.
    pub(super) fn simulate_plan(
        &self,
        planned: (&Sweep, &Plan),
        shard: Shard,
        errors: &mut dyn Write,
    ) -> Result<Store, Error> {
        if let Some(folder) = &self.folder {
            check_earlier_plan_is_part(folder, planned.1)?;
        }
        let store = self.open_store(errors)?;
        if let Some(folder) = &self.folder {
            write_plan(folder, planned.1)?;
        }
        let runs = missing_runs(planned.1, shard, store.rows());
        self.simulate_runs_into_store(planned, &runs, store)
    }

    /// Simulates the runs of the plan with the indices `runs`, and adds their results to the store.
    pub(super) fn simulate_runs_into_store(
        &self,
        planned: (&Sweep, &Plan),
        runs: &[usize],
        store: Store,
    ) -> Result<Store, Error> {
        let (store, done) = (Mutex::new(store), FinishedRunCounter::default());
        self.run_work_with_store((&store, &done), runs.len() as u64, || {
            simulate_runs(
                planned,
                runs,
                self.limits_and_shared_run_data(),
                &store,
                &done,
            )
        })?;
        Ok(store.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs `work`, which simulates up to `total` runs and adds their results to a store, and shows its progress.
    ///
    /// Ctrl-C prints what happens to the results and ends the process; the store keeps all results.
    pub(super) fn run_work_with_store<R: Send>(
        &self,
        (store, done): (&Mutex<Store>, &FinishedRunCounter),
        total: u64,
        work: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        let bar = ProgressDisplay {
            item_noun: "runs",
            total_items: Some(total),
            prints_lines_without_terminal: true,
            is_quiet: self.output.quiet,
        };
        let lock = || store.lock().unwrap_or_else(PoisonError::into_inner);
        let farewell = || {
            let store = lock();
            let text = self.farewell(store.rows().len());
            // A row that is not stored is computed again the next time.
            let _ = store.sync();
            // No row is added from here on.
            std::mem::forget(store);
            (!self.output.quiet).then_some(text)
        };
        let found = run_with_progress_and_farewell(&bar, &|| done.count(), &farewell, || {
            self.threads.install(work)
        })?;
        lock().sync()?;
        Ok(found)
    }

    /// Returns the last message of an interrupted command that has the results of `count` runs.
    fn farewell(&self, count: usize) -> String {
        let runs = format_count(count, "run");
        match &self.folder {
            Some(folder) => format!(
                "the results of {runs} are kept in `{}`; to continue, repeat the same command",
                escape_control_characters(&folder.display().to_string())
            ),
            None => format!(
                "the results of {runs} are lost; to keep results and continue after an interruption, add `--out DIR`"
            ),
        }
    }

    /// Prints a result in the requested format: as `json`, or as the lines and tables of `sheet`.
    pub(super) fn print_result(
        &self,
        out: &mut dyn Write,
        json: impl FnOnce() -> Value,
        sheet: impl FnOnce() -> Sheet,
    ) -> Result<(), Error> {
        let form = self.output.form.output_form_unless_quiet(self.output.quiet);
        print_result(out, form, json, sheet)
    }
}

/// Prints the number of failed runs and the error of the first; returns whether no run failed.
pub(super) fn print_failures(failed: &[&str], errors: &mut dyn Write) -> bool {
    if let Some(first) = failed.first() {
        let runs = format_count(failed.len(), "run");
        print_line(
            errors,
            &format!("{runs} failed; the error of the first: {first}"),
        );
    }
    failed.is_empty()
}
