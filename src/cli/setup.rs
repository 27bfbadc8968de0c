//! The common part of the studies, which are the commands that simulate many runs: `sweep`, `tune`, `compare`, `bench` and
//! `bottlenecks`.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Mutex,
};

use rayon::ThreadPool;
use serde_json::Value;

use super::{
    args::{MemoryArguments, OutputAndThreadArguments},
    memory_limit::memory_and_thread_limits,
    print::{print_line, print_notes, print_result},
    progress::{ProgressDisplay, run_with_progress_and_farewell},
    threads::start_planning_threads,
};
use crate::{
    error::{Error, Result, escape_control_characters},
    experiment::Limits,
    memory::ExperimentPurpose,
    output::Sheet,
    policy::log_error_output_to,
    sweep::{
        Plan, Shard, Store, Sweep,
        folder::{check_earlier_plan_is_part, write_files, write_plan},
        run::{lock, missing_runs, simulate_runs},
        tune_report::REPORT_FILE,
    },
    words::format_count,
};

/// The file of a folder with the error output of the programs that are policies (`exec`).
pub(super) const PROGRAM_LOG: &str = "exec.log";

/// The limits, the threads and the output of a study.
#[derive(Debug)]
pub(super) struct StudySetup {
    /// Limits on the memory of the runs, and on what files may do.
    pub limits: Limits,
    /// The threads on which the runs are simulated.
    pub threads: ThreadPool,
    /// The folder that keeps the results; `None` if they are lost when the command ends.
    pub folder: Option<PathBuf>,
    output: OutputAndThreadArguments,
    /// The file of the folder with the result of the study; empty for a sweep.
    result_file: &'static str,
}

/// The files with the results of commands, each with the command that writes it.
const RESULT_FILES: [(&str, &str); 6] = [
    ("run.json", "run"),
    ("advise.json", "advise"),
    ("bench.json", "bench"),
    ("bottlenecks.json", "bottlenecks"),
    ("compare.json", "compare"),
    (REPORT_FILE, "tune"),
];

impl StudySetup {
    /// Prepares the limits and the threads that the flags request. Results are kept in `folder`, and that of the study in its file
    /// `result_file`.
    ///
    /// # Errors
    /// The folder has the result of another command.
    pub(super) fn new(
        memory: &MemoryArguments,
        output: OutputAndThreadArguments,
        folder: Option<&Path>,
        result_file: &'static str,
    ) -> Result<Self> {
        let is_there = |file: &str| folder.is_some_and(|folder| folder.join(file).exists());
        // These commands write their plan, if any, together with their result.
        let has_no_plan = ["advise.json", "bottlenecks.json", REPORT_FILE].contains(&result_file);
        let plan = (has_no_plan && !is_there(result_file)).then_some(("plan.json", "sweep"));
        let others = RESULT_FILES.iter().filter(|one| one.0 != result_file);
        for (file, command) in others.chain(&plan) {
            if let Some(path) = folder
                .map(|folder| folder.join(file))
                .filter(|path| path.exists())
            {
                return Err(Error::input(
                    format!("the folder already holds the results of `migsim {command}`"),
                    path.display().to_string(),
                    "choose another folder with `--out`",
                ));
            }
        }
        let limits = memory_and_thread_limits(memory, output.threads, ExperimentPurpose::Sweep);
        Ok(Self {
            limits,
            threads: start_planning_threads(output.threads, limits)?,
            folder: folder.map(Path::to_owned),
            output,
            result_file,
        })
    }

    /// Creates the plan of a sweep, which lists its runs, within the limits of the command.
    pub(super) fn plan(&self, sweep: &mut Sweep) -> Result<Plan> {
        sweep.limits = self.limits;
        self.threads.install(|| Plan::new(sweep))
    }

    /// Prints notes for the user; prints nothing if the user requested no output (`--quiet`).
    pub(super) fn print_notes(&self, notes: &[String], errors: &mut dyn Write) {
        if !self.output.quiet {
            print_notes(notes, errors);
        }
    }

    /// Opens the store with the results of runs in the folder, or creates a store in memory. Prints how many damaged records were
    /// removed from the store.
    pub(super) fn open_store(&self, errors: &mut dyn Write) -> Result<Mutex<Store>> {
        let Some(folder) = &self.folder else {
            return Ok(Mutex::default());
        };
        let store = Store::open(folder)?;
        log_error_output_to(folder.join(PROGRAM_LOG));
        if store.dropped_line_count > 0 {
            let lost = format_count(store.dropped_line_count, "record");
            let note = format!(
                "removed {lost} of runs that were cut off or damaged; these runs are simulated again"
            );
            self.print_notes(&[note], errors);
        }
        Ok(Mutex::new(store))
    }

    /// Simulates the runs of a part of a plan that the folder lacks, and returns the store with all results.
    ///
    /// # Errors
    /// The folder has results of another plan, or cannot be written.
    pub(super) fn simulate_plan(
        &self,
        sweep: &Sweep,
        plan: &Plan,
        shard: Shard,
        errors: &mut dyn Write,
    ) -> Result<Mutex<Store>> {
        if let Some(folder) = &self.folder {
            check_earlier_plan_is_part(folder, plan)?;
        }
        let store = self.open_store(errors)?;
        if let Some(folder) = &self.folder {
            write_plan(folder, plan)?;
        }
        let runs = missing_runs(plan, shard, &lock(&store).rows);
        self.simulate_runs(sweep, plan, &runs, &store)?;
        Ok(store)
    }

    /// Simulates the runs of the plan with the indices `runs`, and adds their results to the store.
    pub(super) fn simulate_runs(
        &self,
        sweep: &Sweep,
        plan: &Plan,
        runs: &[usize],
        store: &Mutex<Store>,
    ) -> Result {
        self.run_with_store(store, Some(runs.len() as u64), || {
            simulate_runs(sweep, plan, runs, store)
        })
    }

    /// Runs `work`, which simulates runs and adds their results to a store, and shows its progress. `total` is the number of runs;
    /// `None` if only their maximum is known.
    ///
    /// Ctrl-C prints what happens to the results and ends the process; the store keeps all results.
    pub(super) fn run_with_store<R: Send>(
        &self,
        store: &Mutex<Store>,
        total: Option<u64>,
        work: impl FnOnce() -> Result<R> + Send,
    ) -> Result<R> {
        let bar = ProgressDisplay {
            item_noun: "runs",
            total_items: total,
            prints_lines_without_terminal: true,
            is_quiet: self.output.quiet,
        };
        let farewell = || {
            let store = lock(store);
            let text = self.farewell(store.rows.len());
            // A row that is not stored is computed again the next time.
            let _ = store.sync();
            // No row is added from here on.
            std::mem::forget(store);
            (!self.output.quiet).then_some(text)
        };
        let before = lock(store).finished_runs;
        let count = || lock(store).finished_runs - before;
        let found =
            run_with_progress_and_farewell(&bar, &count, &farewell, || self.threads.install(work))?;
        lock(store).sync()?;
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

    /// Writes the result of a study into its folder, if there is one: `json` into its file, and other files. Then prints the result
    /// in the requested format: as `json`, or as the lines and tables of `sheet`.
    pub(super) fn finish<F: IntoIterator<Item = (&'static str, String)>>(
        &self,
        out: &mut dyn Write,
        json: Value,
        sheet: impl FnOnce() -> Sheet,
        files: impl FnOnce() -> F,
    ) -> Result {
        if let Some(folder) = &self.folder {
            let json = [(self.result_file, format!("{json:#}\n"))];
            write_files(folder, json.into_iter().chain(files()))?;
        }
        let form = self.output.form.output_form_unless_quiet(self.output.quiet);
        print_result(out, form, || json, sheet)
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
