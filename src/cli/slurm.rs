//! Implements the flag `--slurm` of `migsim sweep` and `migsim bench`: submits a Slurm job array, waits for its end, and merges
//! the results of its tasks.
//!
//! The array has one task per part of the plan (`--shard`). Each task works in a separate folder below `shards/`. The number of
//! the job is kept in the folder of the sweep. If the same command is run again while the job array still exists, it continues to
//! wait; otherwise it submits only the parts that lack runs. Options are passed to `sbatch` as arguments, never through a shell.
//! In the script, which a shell reads, every path is quoted.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::progress::{ProgressDisplay, run_with_progress_and_farewell};
use crate::error::{Error, Problem};
use crate::output::{OutputForm, cannot_write_error, write_file_atomically};
use crate::sweep::folder::{self, SweepReport, merge_folders};
use crate::sweep::{Plan, Shard, Sweep, store};

/// Name of the file in the folder of the sweep that contains the number of the submitted Slurm job.
const JOB_NUMBER_FILE: &str = "slurm.job";

/// The first and the longest pause between two requests for the state of a Slurm job; each pause is twice as long as the previous
/// pause, up to the longest.
const REQUEST_PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(10));

/// Maximum number of successive requests to which Slurm does not reply before the command gives up.
const MAX_FAILED_REQUESTS: usize = 20;

/// A sweep whose parts are simulated as tasks of a Slurm job array.
#[derive(Debug)]
pub(super) struct SlurmSweep<'a> {
    /// The sweep whose runs are simulated.
    pub(super) sweep: &'a Sweep,
    /// The plan of the sweep, which lists its runs.
    pub(super) plan: &'a Plan,
    /// The folder of the sweep, to which its results are written.
    pub(super) sweep_folder: &'a Path,
    /// Number of parts into which the runs are divided.
    pub(super) part_count: usize,
    /// Options that the user passes on to `sbatch`, as the user typed them.
    pub(super) sbatch_options: &'a [String],
    /// Whether the command prints no progress.
    pub(super) is_quiet: bool,
    /// The format in which the results of the sweep are printed.
    pub(super) output_form: OutputForm,
}

impl SlurmSweep<'_> {
    /// Creates the description of the Slurm job array, with one task for each part of the sweep that lacks runs.
    ///
    /// # Errors
    /// An option for `sbatch` or a path cannot be used.
    pub(super) fn create_job_array(&self) -> Result<JobArray, Error> {
        let folder = self.absolute_folder()?;
        let (tasks, _) =
            incomplete_parts_and_finished_run_count(self.plan, &folder, self.part_count)?;
        let program = std::env::current_exe().map_err(|error| {
            Problem::new(format!(
                "the path of the program migsim is unknown: {error}"
            ))
            .hint("start migsim by its full path")
        })?;
        let mut array = JobArray::new(
            &program,
            &folder,
            self.part_count,
            tasks,
            self.sbatch_options,
        )?;
        let sweep = serde_json::to_value(self.sweep.to_sweep_file()?).expect("a sweep is JSON");
        array.allows_program_start = crate::policy::mentions_exec(&sweep);
        Ok(array)
    }

    /// Returns the absolute path of the folder of the sweep.
    fn absolute_folder(&self) -> Result<PathBuf, Error> {
        std::path::absolute(self.sweep_folder)
            .map_err(|error| cannot_write_error(&self.sweep_folder.display().to_string(), &error))
    }

    /// Submits the job array unless it exists already, waits for its end, and merges the results of its tasks.
    ///
    /// # Errors
    /// A task did not complete its part, or Slurm does not accept the job.
    pub(super) fn run_job_array(&self) -> Result<SweepReport, Error> {
        let array = self.create_job_array()?;
        let shards = array.sweep_folder.join("shards");
        std::fs::create_dir_all(&shards)
            .map_err(|error| cannot_write_error(&shards.display().to_string(), &error))?;
        let job = match Self::find_active_job_number(&array)? {
            Some(job) => Some(job),
            None if array.submitted_parts.is_empty() => None,
            None => Some(self.submit_job_array(&array)?),
        };
        if let Some(job) = job {
            self.wait_for_job(&array, &job)?;
            // The array has ended and is not needed any more. If the file stays, Slurm reports the end the next time.
            let _ = std::fs::remove_file(array.sweep_folder.join(JOB_NUMBER_FILE));
        }
        let (left, _) = incomplete_parts_and_finished_run_count(
            self.plan,
            &array.sweep_folder,
            self.part_count,
        )?;
        if left.is_empty() {
            let parts: Vec<PathBuf> = (1..=self.part_count)
                .map(|part| array.folder_of_part(part))
                .collect();
            return merge_folders(&parts, &array.sweep_folder, self.output_form);
        }
        let named: Vec<String> = left.iter().take(8).map(usize::to_string).collect();
        let more = if left.len() > named.len() {
            ", ..."
        } else {
            ""
        };
        let message = format!(
            "{} of {} Slurm tasks did not complete their part of the sweep: tasks {}{more}",
            left.len(),
            self.part_count,
            named.join(", ")
        );
        let hint = format!(
            "repeat the same command to submit these tasks again, after reading the output of the tasks in `{}`",
            shards.join("task-N.log").display()
        );
        Err(Error::SimulationFailure(Problem::new(message).hint(hint)))
    }

    /// Returns the number of the job array that an earlier command submitted for this folder; `None` if there is none or it has
    /// ended.
    fn find_active_job_number(array: &JobArray) -> Result<Option<String>, Error> {
        let Ok(job) = std::fs::read_to_string(array.sweep_folder.join(JOB_NUMBER_FILE)) else {
            return Ok(None);
        };
        let job = job.trim().to_owned();
        Ok(is_job_active(&job)?.unwrap_or(true).then_some(job))
    }

    /// Submits the job array to Slurm and returns the number of the job.
    fn submit_job_array(&self, array: &JobArray) -> Result<String, Error> {
        let sweep = serde_json::to_value(self.sweep.to_sweep_file()?).expect("a sweep is JSON");
        write_file_atomically(
            &array.sweep_folder.join(SWEEP_FILE),
            format!("{sweep:#}\n").as_bytes(),
        )?;
        let script = array.sweep_folder.join(SCRIPT_FILE);
        write_file_atomically(&script, array.task_script().as_bytes())?;
        let output = run_slurm_command(
            Command::new("sbatch")
                .args(array.sbatch_arguments())
                .arg(&script),
        )?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let problem = Problem::new(format!(
                "the command `sbatch` refuses the job: {}",
                text.trim()
            ));
            return Err(problem
                .source("--slurm")
                .hint("correct the flags `--sbatch-option`; `--slurm-dry-run` prints the submitted script")
                .into());
        }
        // `--parsable` prints the number, and on some systems `;cluster` after it.
        let text = String::from_utf8_lossy(&output.stdout);
        let job: String = text
            .trim()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        if job.is_empty() {
            let problem = Problem::new(format!(
                "the command `sbatch` answered `{}` instead of the number of a job",
                text.trim()
            ));
            return Err(problem
                .source("--slurm")
                .hint("check whether `sbatch --parsable` works on this machine")
                .into());
        }
        write_file_atomically(&array.sweep_folder.join(JOB_NUMBER_FILE), job.as_bytes())?;
        Ok(job)
    }

    /// Waits until the job array `job` has ended, and shows how many runs are finished. Ctrl-C ends the command, but not the job.
    fn wait_for_job(&self, array: &JobArray, job: &str) -> Result<(), Error> {
        let there = AtomicU64::new(0);
        let bar = ProgressDisplay {
            item_noun: "runs",
            total_items: Some(self.plan.runs.len() as u64),
            prints_lines_without_terminal: true,
            is_quiet: self.is_quiet,
        };
        let farewell = || {
            let text = format!("job {job} continues; repeat the same command to wait for its end");
            (!self.is_quiet).then_some(text)
        };
        run_with_progress_and_farewell(&bar, &|| there.load(Ordering::Relaxed), &farewell, || {
            let (mut pause, mut failures) = (REQUEST_PAUSES.0, 0);
            loop {
                match is_job_active(job)? {
                    Some(false) => return Ok(()),
                    Some(true) => failures = 0,
                    None => failures += 1,
                }
                if failures > MAX_FAILED_REQUESTS {
                    let problem = Problem::new(format!(
                        "Slurm does not report the state of job {job} any more"
                    ));
                    return Err(Error::SimulationFailure(
                        problem.hint("repeat the same command to continue waiting for this job"),
                    ));
                }
                there.store(
                    incomplete_parts_and_finished_run_count(
                        self.plan,
                        &array.sweep_folder,
                        self.part_count,
                    )?
                    .1,
                    Ordering::Relaxed,
                );
                std::thread::sleep(pause);
                pause = (pause * 2).min(REQUEST_PAUSES.1);
            }
        })
    }
}

/// Returns whether a Slurm job is waiting or running; `None` if Slurm does not reply.
fn is_job_active(job: &str) -> Result<Option<bool>, Error> {
    let output = run_slurm_command(Command::new("squeue").args([
        "--noheader",
        "--format=%A",
        "--jobs",
        job,
    ]))?;
    if output.status.success() {
        return Ok(Some(!output.stdout.trim_ascii().is_empty()));
    }
    // Slurm forgets jobs some minutes after their end.
    let is_forgotten = String::from_utf8_lossy(&output.stderr).contains("Invalid job id");
    Ok(is_forgotten.then_some(false))
}

/// Runs a Slurm command (`sbatch`, `squeue`) and returns its output.
///
/// # Errors
/// The command cannot be started.
fn run_slurm_command(command: &mut Command) -> Result<Output, Error> {
    command.output().map_err(|error| {
        let program = command.get_program().to_string_lossy();
        Problem::new(format!("cannot run `{program}`: {error}"))
            .source("--slurm")
            .hint("repeat the command on a machine with Slurm, or run the parts with `--shard` and join them with `migsim sweep merge`")
            .into()
    })
}

/// A Slurm job array with one task for each part of a sweep that lacks runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JobArray {
    /// Path of the program `migsim`, which each task runs.
    program_path: PathBuf,
    /// Absolute path of the folder of the sweep.
    sweep_folder: PathBuf,
    /// Number of parts into which the runs of the sweep are divided.
    part_count: usize,
    /// Numbers of the parts for which a task is submitted, counted from 1.
    submitted_parts: Vec<usize>,
    /// Options that the user passes on to `sbatch`, in the form `--name=value`.
    sbatch_options: Vec<String>,
    /// Whether the user allows the sweep to start a program as its policy; the tasks then need the flag `--allow-exec`.
    allows_program_start: bool,
}

/// Name of the sweep file that the tasks read.
const SWEEP_FILE: &str = "sweep.json";

/// Name of the file with the shell script that each task runs.
const SCRIPT_FILE: &str = "task.sh";

/// Names of the options of `sbatch` that this program sets and the user may not set.
const RESERVED_SBATCH_OPTIONS: [&str; 6] = ["array", "chdir", "output", "parsable", "wait", "wrap"];

impl JobArray {
    /// Creates the description of the job array of a sweep in `folder`; `tasks` are the parts that lack runs.
    ///
    /// # Errors
    /// An option for `sbatch` may not be set, or a path contains control characters.
    fn new(
        program: &Path,
        folder: &Path,
        parts: usize,
        tasks: Vec<usize>,
        options: &[String],
    ) -> Result<Self, Error> {
        let long = |option: &String| format!("--{}", option.trim_start_matches('-'));
        let options: Vec<String> = options.iter().map(long).collect();
        for option in &options {
            let name = option[2..].split(['=', ' ']).next().unwrap_or_default();
            if name.is_empty() || RESERVED_SBATCH_OPTIONS.contains(&name) {
                let problem = Problem::new(format!(
                    "the option `{option}` of sbatch cannot be set, since migsim sets it"
                ));
                return Err(problem
                    .source("--sbatch-option")
                    .hint("set other options, such as `partition=short` or `time=00:30:00`")
                    .into());
            }
        }
        let paths = [program, folder].map(|path| path.to_str().unwrap_or("\0").to_owned());
        let is_unprintable = |text: &&String| text.contains(char::is_control);
        if let Some(text) = options.iter().chain(&paths).find(is_unprintable) {
            let problem = Problem::new(format!(
                "the path or option {text:?} has control characters, which cannot be written into a script"
            ));
            return Err(problem
                .hint("choose a path or option without control characters")
                .into());
        }
        Ok(Self {
            program_path: program.to_owned(),
            sweep_folder: folder.to_owned(),
            part_count: parts,
            submitted_parts: tasks,
            sbatch_options: options,
            allows_program_start: false,
        })
    }

    /// Returns the path of the folder of a part of this sweep; parts are counted from 1.
    fn folder_of_part(&self, part: usize) -> PathBuf {
        part_folder(&self.sweep_folder, part)
    }

    /// Returns the arguments with which `sbatch` is called, except the path of the script.
    fn sbatch_arguments(&self) -> Vec<String> {
        let tasks: Vec<String> = self.submitted_parts.iter().map(usize::to_string).collect();
        let mut arguments = vec![
            "--parsable".to_owned(),
            format!("--array={}", tasks.join(",")),
            "--job-name=migsim-sweep".to_owned(),
            // In a file name, Slurm takes a `%` for a field, unless it is doubled.
            format!(
                "--output={}/shards/task-%a.log",
                self.sweep_folder.display().to_string().replace('%', "%%")
            ),
        ];
        arguments.extend(self.sbatch_options.iter().cloned());
        arguments
    }

    /// Returns the text of the shell script that each task runs.
    pub(super) fn task_script(&self) -> String {
        let quoted = |path: &Path| quote_for_shell(&path.to_string_lossy());
        let arguments = self.sbatch_arguments();
        let command: Vec<String> = arguments
            .iter()
            .map(|one| self::quote_for_shell(one))
            .collect();
        format!(
            "#!/bin/bash\n\
             # A part of a sweep of migsim. Submitted with:\n\
             # sbatch {} {}\n\
             set -euo pipefail\n\
             exec {} sweep {} --shard \"$SLURM_ARRAY_TASK_ID/{}\" --out {}\"$SLURM_ARRAY_TASK_ID\" --threads \"${{SLURM_CPUS_PER_TASK:-1}}\" --quiet{}\n",
            command.join(" "),
            quoted(&self.sweep_folder.join(SCRIPT_FILE)),
            quoted(&self.program_path),
            quoted(&self.sweep_folder.join(SWEEP_FILE)),
            self.part_count,
            quoted(&self.sweep_folder.join("shards/part-")),
            if self.allows_program_start {
                " --allow-exec"
            } else {
                ""
            },
        )
    }
}

/// Returns the path of the folder of a part of the sweep in `folder`; parts are counted from 1.
fn part_folder(folder: &Path, part: usize) -> PathBuf {
    folder.join(format!("shards/part-{part}"))
}

/// Quotes a text such that a shell reads it as one word, whatever characters it contains.
pub(super) fn quote_for_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Lists the numbers of the parts that lack runs, counted from 1, followed by the number of finished runs of all parts together.
/// `whole` is the folder of the sweep.
fn incomplete_parts_and_finished_run_count(
    plan: &Plan,
    whole: &Path,
    parts: usize,
) -> Result<(Vec<usize>, u64), Error> {
    let (mut tasks, mut there) = (Vec::new(), 0);
    for part in 1..=parts {
        let own = part_folder(whole, part);
        let shard = Shard {
            index: part - 1,
            part_count: parts,
        };
        let rows = store::read_rows_if_any(&own)?;
        there += rows.len() as u64;
        // A part of an earlier plan may have all rows of this plan, but its own plan must be replaced.
        let is_other = folder::read_plan(&own).is_ok_and(|other| other.runs != plan.runs);
        let mut wanted = shard.runs(plan);
        if is_other || wanted.any(|(_, id)| !rows.contains_key(id)) {
            tasks.push(part);
        }
    }
    Ok((tasks, there))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_quotes_external_texts() {
        let folder = Path::new("/tmp/it's; rm -rf $HOME %a");
        let options = ["partition=a b".to_owned(), "--time=1".to_owned()];
        let array =
            JobArray::new(Path::new("/bin/migsim"), folder, 3, vec![1, 3], &options).unwrap();
        assert_eq!(
            array.task_script(),
            "#!/bin/bash\n\
             # A part of a sweep of migsim. Submitted with:\n\
             # sbatch '--parsable' '--array=1,3' '--job-name=migsim-sweep' '--output=/tmp/it'\\''s; rm -rf $HOME %%a/shards/task-%a.log' '--partition=a b' '--time=1' '/tmp/it'\\''s; rm -rf $HOME %a/task.sh'\n\
             set -euo pipefail\n\
             exec '/bin/migsim' sweep '/tmp/it'\\''s; rm -rf $HOME %a/sweep.json' --shard \"$SLURM_ARRAY_TASK_ID/3\" --out '/tmp/it'\\''s; rm -rf $HOME %a/shards/part-'\"$SLURM_ARRAY_TASK_ID\" --threads \"${SLURM_CPUS_PER_TASK:-1}\" --quiet\n"
        );
    }

    #[test]
    fn options_that_break_out_of_a_line_or_are_ours_are_refused() {
        let with = |option: &str| {
            JobArray::new(
                Path::new("/m"),
                Path::new("/f"),
                1,
                vec![1],
                &[option.to_owned()],
            )
        };
        assert!(with("partition=a\nrm -rf /").is_err());
        assert!(with("array=1-9").is_err() && with("--wrap=x").is_err() && with("--").is_err());
        assert!(JobArray::new(Path::new("/m"), Path::new("/f\n"), 1, vec![1], &[]).is_err());
    }
}
