//! The common part of the commands that simulate the runs of a plan: `sweep`, `tune`, `compare` and `bench`.

use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rayon::ThreadPool;

use super::args::{PlanArguments, VariedArguments};
use super::memory_limit::limits;
use super::print::{print_line, print_notes};
use super::progress::{Bar, with_bar_and_farewell};
use super::threads::planning_threads;
use crate::error::{Error, visible};
use crate::experiment::Limits;
use crate::memory::Purpose;
use crate::sweep::run::simulate_runs;
use crate::sweep::{Common, Done, Plan, Store, Sweep};
use crate::words::counted;

/// The memory limit, the threads and the shared data of a command.
#[derive(Debug)]
pub(super) struct Setup {
    /// The limits on the memory of runs.
    pub(super) limits: Limits,
    /// The threads that simulate the runs.
    pub(super) threads: ThreadPool,
    /// The data that the runs share.
    pub(super) common: Common,
    /// Whether no progress and no notes are printed.
    is_quiet: bool,
}

impl Setup {
    /// Sets up the memory limit and the threads that the flags request.
    pub(super) fn new(varied: &VariedArguments, output: PlanArguments) -> Result<Self, Error> {
        let limits = limits(&varied.settings.memory, output.threads, Purpose::Sweep);
        Self::within(limits, output)
    }

    /// Sets up the threads within the given limits.
    pub(super) fn within(limits: Limits, output: PlanArguments) -> Result<Self, Error> {
        Ok(Self {
            limits,
            threads: planning_threads(output.threads, limits)?,
            common: Common::default(),
            is_quiet: output.quiet,
        })
    }

    /// Returns the memory limit and the shared data, as functions that simulate runs need them.
    pub(super) fn limits_and_common(&self) -> (Limits, &Common) {
        (self.limits, &self.common)
    }

    /// Creates the plan of a sweep and prints its notes.
    pub(super) fn plan(&self, sweep: &Sweep, errors: &mut dyn Write) -> Result<Plan, Error> {
        let plan = self.plan_quietly(sweep)?;
        self.print_notes(&plan.notes, errors);
        Ok(plan)
    }

    /// Creates the plan of an internal sweep without printing its notes, which would not help the user.
    pub(super) fn plan_quietly(&self, sweep: &Sweep) -> Result<Plan, Error> {
        let plan = || Plan::new_for_run(sweep, self.limits, &self.common);
        self.threads.install(plan)
    }

    /// Prints notes, unless the command is quiet.
    pub(super) fn print_notes(&self, notes: &[String], errors: &mut dyn Write) {
        if !self.is_quiet {
            print_notes(notes, errors);
        }
    }

    /// Opens the store of rows in a folder, or creates a store in memory; prints how many damaged rows were removed.
    pub(super) fn open_store(
        &self,
        folder: Option<&Path>,
        errors: &mut dyn Write,
    ) -> Result<Store, Error> {
        let store = folder.map_or_else(|| Ok(Store::in_memory()), Store::open)?;
        if store.dropped_lines > 0 && !self.is_quiet {
            let lost = counted(store.dropped_lines, "record");
            let text = "cut off or damaged, and therefore removed; the missing runs are done again";
            print_line(errors, &format!("note: {lost} {text}"));
        }
        Ok(store)
    }

    /// Simulates the runs of the plan with the indices `runs` and adds their rows to the store; Ctrl-C prints the text that
    /// `farewell` returns.
    pub(super) fn run(
        &self,
        planned: (&Sweep, &Plan),
        runs: &[usize],
        store: Store,
        farewell: &(dyn Fn(&Store) -> String + Sync),
    ) -> Result<Store, Error> {
        let (store, done) = (Mutex::new(store), Done::default());
        self.fill_store((&store, &done), runs.len() as u64, farewell, || {
            simulate_runs(planned, runs, self.limits_and_common(), &store, &done)
        })?;
        Ok(store.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Does work that adds up to `total` rows to a store, with a progress bar. Ctrl-C prints the text that `farewell` returns and
    /// keeps the rows.
    pub(super) fn fill_store<R: Send>(
        &self,
        (store, done): (&Mutex<Store>, &Done),
        total: u64,
        farewell: &(dyn Fn(&Store) -> String + Sync),
        work: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        let bar = Bar {
            unit: "runs",
            total: Some(total),
            has_lines: true,
            is_quiet: self.is_quiet,
        };
        let lock = || store.lock().unwrap_or_else(PoisonError::into_inner);
        let farewell = || {
            let store = lock();
            let text = farewell(&store);
            // A row that is not stored is computed again the next time.
            let _ = store.sync();
            // No row is added from here on.
            std::mem::forget(store);
            (!self.is_quiet).then_some(text)
        };
        let found = with_bar_and_farewell(&bar, &|| done.runs(), &farewell, || {
            self.threads.install(work)
        })?;
        lock().sync()?;
        Ok(found)
    }
}

/// Returns the last message about interrupted work whose rows are kept in a folder; `kept` is the number of rows in words.
pub(super) fn kept_in(kept: &str, folder: &Path) -> String {
    let folder = folder.display().to_string();
    format!(
        "{kept} kept in `{}`; the same command goes on",
        visible(&folder)
    )
}
