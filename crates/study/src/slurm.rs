//! A sweep as a job array of Slurm: the submission as data. Nothing here starts a program.
//!
//! The array has one task per part of the plan (`--shard`); each works in a folder of its own below `shards/`, and the parts are merged
//! when the array has ended. Options go to `sbatch` as arguments, never through a shell; in the script, which a shell does read, every path
//! is quoted.

use std::path::{Path, PathBuf};

use super::folder;
use super::plan::Plan;
use super::run::Shard;
use super::store;
use migsim_base::error::{Error, Problem};

/// A job array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The program that the tasks run.
    pub program: PathBuf,
    /// The folder of the sweep, absolute.
    pub folder: PathBuf,
    /// The number of parts.
    pub parts: usize,
    /// The tasks to be submitted, counted from 1.
    pub tasks: Vec<usize>,
    /// More options of `sbatch`, as `--name=value`.
    pub options: Vec<String>,
}

/// The name of the sweep file that the tasks read.
pub const SWEEP: &str = "sweep.json";

/// The name of the script.
pub const SCRIPT: &str = "task.sh";

/// Options that are ours to give.
const RESERVED: [&str; 6] = ["array", "chdir", "output", "parsable", "wait", "wrap"];

impl Array {
    /// The array of a sweep in `folder`.
    ///
    /// # Errors
    /// An option is ours to give, or a name cannot stand in a script.
    pub fn new(
        program: &Path,
        folder: &Path,
        parts: usize,
        tasks: Vec<usize>,
        options: &[String],
    ) -> Result<Self, Error> {
        let options: Vec<String> = options
            .iter()
            .map(|option| format!("--{}", option.trim_start_matches('-')))
            .collect();
        for option in &options {
            let name = option[2..].split(['=', ' ']).next().unwrap_or_default();
            if name.is_empty() || RESERVED.contains(&name) {
                let problem = Problem::new(format!("`{option}` is not to be given to sbatch"));
                return Err(problem
                    .source("--sbatch-option")
                    .hint("write options such as `partition=short` or `time=00:30:00`; the array and its output are given already")
                    .into());
            }
        }
        let paths = [program, folder].map(|path| path.to_str().unwrap_or("\0").to_owned());
        let is_unprintable = |text: &&String| text.contains(char::is_control);
        if let Some(text) = options.iter().chain(&paths).find(is_unprintable) {
            let problem = Problem::new(format!("{text:?} has letters that a script cannot hold"));
            return Err(problem.hint("take another name").into());
        }
        Ok(Self {
            program: program.to_owned(),
            folder: folder.to_owned(),
            parts,
            tasks,
            options,
        })
    }

    /// The folder of a part, counted from 1.
    pub fn part(&self, part: usize) -> PathBuf {
        part_folder(&self.folder, part)
    }

    /// The arguments of `sbatch`, without the script.
    pub fn arguments(&self) -> Vec<String> {
        let tasks: Vec<String> = self.tasks.iter().map(usize::to_string).collect();
        let mut arguments = vec![
            "--parsable".to_owned(),
            format!("--array={}", tasks.join(",")),
            "--job-name=migsim-sweep".to_owned(),
            // A `%` of a file name is a field for Slurm, but for a doubled one.
            format!(
                "--output={}/shards/task-%a.log",
                self.folder.display().to_string().replace('%', "%%")
            ),
        ];
        arguments.extend(self.options.iter().cloned());
        arguments
    }

    /// The script of a task.
    pub fn script(&self) -> String {
        let quoted = |path: &Path| quoted(&path.to_string_lossy());
        let command: Vec<String> = self
            .arguments()
            .iter()
            .map(|argument| self::quoted(argument))
            .collect();
        format!(
            "#!/bin/bash\n\
             # A part of a sweep of migsim. Submitted with:\n\
             # sbatch {} {}\n\
             set -euo pipefail\n\
             exec {} sweep {} --shard \"$SLURM_ARRAY_TASK_ID/{}\" --out {}\"$SLURM_ARRAY_TASK_ID\" --threads \"${{SLURM_CPUS_PER_TASK:-1}}\" --quiet\n",
            command.join(" "),
            quoted(&self.folder.join(SCRIPT)),
            quoted(&self.program),
            quoted(&self.folder.join(SWEEP)),
            self.parts,
            quoted(&self.folder.join("shards/part-")),
        )
    }
}

fn part_folder(folder: &Path, part: usize) -> PathBuf {
    folder.join(format!("shards/part-{part}"))
}

/// A text as one word of a shell, whatever it holds.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The parts, counted from 1, that lack runs, and how many runs are there in all parts.
///
/// # Errors
/// The folder of a part cannot be read.
pub fn incomplete(plan: &Plan, whole: &Path, parts: usize) -> Result<(Vec<usize>, u64), Error> {
    let (mut tasks, mut there) = (Vec::new(), 0);
    for part in 1..=parts {
        let own = part_folder(whole, part);
        let shard = Shard {
            index: part - 1,
            of: parts,
        };
        let rows = store::rows_if_any(&own)?;
        there += rows.len() as u64;
        // A part of an earlier plan may have all rows of this one, and must say so.
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
    fn the_script_quotes_what_comes_from_outside() {
        let folder = Path::new("/tmp/it's; rm -rf $HOME %a");
        let options = ["partition=a b".to_owned(), "--time=1".to_owned()];
        let array = Array::new(Path::new("/bin/migsim"), folder, 3, vec![1, 3], &options).unwrap();
        assert_eq!(
            array.script(),
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
            Array::new(
                Path::new("/m"),
                Path::new("/f"),
                1,
                vec![1],
                &[option.to_owned()],
            )
        };
        assert!(with("partition=a\nrm -rf /").is_err());
        assert!(with("array=1-9").is_err() && with("--wrap=x").is_err() && with("--").is_err());
        assert!(Array::new(Path::new("/m"), Path::new("/f\n"), 1, vec![1], &[]).is_err());
    }
}
