//! Starts the program that is recorded, waits for its end and, if a signal arrives, ends it together with all processes that it
//! has started.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Child, Command, ExitStatus},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::SIGTERM;

use crate::{
    cli::{args::ComputationClock, interrupt::EndSignalRecorder},
    document::{path_of_text, read_text},
    error::{Error, Problem, Result},
    workload::record::{other_library_name, recorder_failure_reason},
};

/// Time between two checks whether the program has ended or a signal has arrived.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Time that the program has to end without further action after a signal that the terminal sends to the program as well.
const TIME_TO_END_BY_ITSELF: Duration = Duration::from_secs(1);
const TIME_TO_END_AFTER_SIGNAL: Duration = Duration::from_secs(5);

/// A program that `migsim record` runs, with or without the recorder.
#[derive(Debug)]
pub(super) struct ProgramToRun<'a> {
    /// The program and its arguments, as words.
    pub program_words: &'a [String],
    /// Path of the library of the recorder, which is loaded into the program; `None` to run the program without the recorder.
    pub recorder_library: Option<&'a Path>,
    /// Folder into which the recorder writes the records of the processes.
    pub records_folder: &'a Path,
    /// Clock with which the recorder measures the time of computation.
    pub clock: ComputationClock,
}

/// Runs the program until it ends, with the recorder loaded before the MPI library. If a signal arrives, ends the program.
///
/// # Errors
/// The program cannot be started or fails, a signal has arrived, or nothing was recorded.
pub(super) fn run_program(job: &ProgramToRun<'_>, signals: &EndSignalRecorder) -> Result {
    if signals.are_signals_caught() {
        become_subreaper();
    }
    let mut child = start_program(job)?;
    let status = loop {
        if let Some(signal) = signals.last_signal_number() {
            end_all_processes(&mut child, signal);
            return Err(interrupted_error());
        }
        if let Some(status) = child
            .try_wait()
            .map_err(|error| wait_failed_error(&error))?
        {
            break status;
        }
        thread::sleep(POLL_INTERVAL);
    };
    if status.success() {
        return check_records_written(job);
    }
    Err(program_failed_error(status, job.records_folder))
}

/// Returns the error which reports that a signal has ended the command; the text of this error is not printed.
pub(super) fn interrupted_error() -> Error {
    Error::SimulationFailure(
        Problem::new("the recording was interrupted").hint("record the program again"),
    )
}

/// Starts the program without waiting for its end; loads the recorder into it if there is one.
fn start_program(job: &ProgramToRun<'_>) -> Result<Child> {
    let [program, rest @ ..] = job.program_words else {
        return Err(Problem::new("the program to record is not named")
            .hint("write the program after `--`: `migsim record --out app.trace -- mpirun -np 8 ./program`")
            .into());
    };
    // An argument that is not UTF-8 arrived as a text.
    let mut command = Command::new(path_of_text(program).as_os_str());
    command.args(rest.iter().map(|word| path_of_text(word).into_owned()));
    if let Some(library) = job.recorder_library {
        let mut preload = library.as_os_str().to_owned();
        if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
            preload.push(":");
            preload.push(others);
        }
        command
            .env("LD_PRELOAD", preload)
            .env("MIGSIM_RECORD_DIR", job.records_folder)
            .env("MIGSIM_RECORD_CLOCK", job.clock.name())
            .env("MIGSIM_RECORD_PID", std::process::id().to_string());
    }
    command.spawn().map_err(|error| {
        let problem = Problem::new(format!("cannot start `{program}`: {error}"));
        let hint = "check the name of the program, and write the whole command after `--`: `migsim record --out app.trace -- mpirun -np 8 ./program`";
        problem.hint(hint).into()
    })
}

/// Checks that the recorder has written at least one record, because every MPI program leaves records; does nothing if the
/// program ran without the recorder.
fn check_records_written(job: &ProgramToRun<'_>) -> Result {
    if job.recorder_library.is_none() || paths_of_records(job.records_folder).next().is_some() {
        return Ok(());
    }
    let message = format!(
        "no MPI call of `{}` was recorded",
        job.program_words.join(" ")
    );
    let hint = "link the program dynamically with the MPI library to which `mpicc` belongs, and run all its processes on this host";
    Err(Error::SimulationFailure(Problem::new(message).hint(hint)))
}

fn paths_of_records(folder: &Path) -> impl Iterator<Item = std::path::PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "record"))
}

/// Returns the error for a program that ended with a failure. If the recorder could not write its records, the error contains the
/// reason, which the recorder left in the folder.
fn program_failed_error(status: ExitStatus, folder: &Path) -> Error {
    let mut texts = paths_of_records(folder).filter_map(|path| read_text(&path).ok());
    if let Some(library) = texts.find_map(|text| other_library_name(&text).map(str::to_owned)) {
        let message =
            format!("the program uses `{library}`, for which the recorder was not compiled");
        let hint = "name the compiler of this MPI library with `--mpicc`; nothing was written";
        return Error::SimulationFailure(Problem::new(message).hint(hint));
    }
    let mut texts = paths_of_records(folder).filter_map(|path| read_text(&path).ok());
    let Some(reason) = texts.find_map(|text| recorder_failure_reason(&text).map(str::to_owned))
    else {
        let message = format!("the recorded program failed: {status}");
        let hint = "correct the program until it runs without `migsim record`, then record again; nothing was written";
        return Error::SimulationFailure(Problem::new(message).hint(hint));
    };
    let problem = Problem::new(format!("cannot write the records of the program: {reason}"));
    let hint = "set TMPDIR to a folder with more space (`docs/guide/record.md` says how much the records need); nothing was written";
    Error::SimulationFailure(problem.source(folder.display().to_string()).hint(hint))
}

/// Returns the error that is reported if the operating system cannot wait for the end of the program.
fn wait_failed_error(error: &std::io::Error) -> Error {
    Error::SimulationFailure(
        Problem::new(format!(
            "cannot wait for the end of the recorded program: {error}"
        ))
        .hint("record the program again"),
    )
}

/// Ends the program and all processes that it has started after a signal: passes the signal on to them, and kills them if they do
/// not end in time.
fn end_all_processes(child: &mut Child, signal: i32) {
    // The terminal also sends other signals to the program; a second one would disturb it while it ends.
    if signal != SIGTERM && wait_for_end_of_processes(child, TIME_TO_END_BY_ITSELF) {
        return;
    }
    let passed_on = Signal::from_named_raw(signal).unwrap_or(Signal::TERM);
    for signal in [passed_on, Signal::KILL] {
        send_signal(&descendant_process_ids(std::process::id(), child), signal);
        if wait_for_end_of_processes(child, TIME_TO_END_AFTER_SIGNAL) {
            return;
        }
    }
}

/// Waits until the program and all processes that it has started have ended, at most for `time`. Returns whether all have ended.
fn wait_for_end_of_processes(child: &mut Child, time: Duration) -> bool {
    let mut left = time;
    while !matches!(child.try_wait(), Ok(Some(_)))
        || !descendant_process_ids(std::process::id(), child).is_empty()
    {
        if left.is_zero() {
            return false;
        }
        thread::sleep(POLL_INTERVAL);
        left = left.saturating_sub(POLL_INTERVAL);
    }
    true
}

/// Sends a signal to all processes with the ids in `family`.
fn send_signal(family: &BTreeSet<u32>, signal: Signal) {
    for &id in family {
        if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, signal); // the process may have ended just now
        }
    }
}

/// Returns the ids of all living descendants of the process `root`; if the system does not list processes, only the id of
/// `child`.
///
/// The system makes `root` the parent of processes whose own parents have ended, so that these processes are included.
fn descendant_process_ids(root: u32, child: &mut Child) -> BTreeSet<u32> {
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok())
        .filter_map(|id| Some((id, parent_process_id(id)?)))
        .collect();
    let mut family = BTreeSet::from([root]);
    loop {
        let is_new = |(id, parent): &&(u32, u32)| family.contains(parent) && !family.contains(id);
        let found: Vec<u32> = parents.iter().filter(is_new).map(|(id, _)| *id).collect();
        if found.is_empty() {
            break;
        }
        family.extend(found);
    }
    family.remove(&root);
    if matches!(child.try_wait(), Ok(None)) {
        family.insert(child.id());
    }
    family
}

/// Makes this process the parent of all processes of the program whose own parents end first (a subreaper of Linux), so that this
/// process can end all of them.
fn become_subreaper() {
    #[cfg(target_os = "linux")]
    if let Some(here) = i32::try_from(std::process::id())
        .ok()
        .and_then(Pid::from_raw)
    {
        // Otherwise such processes would continue after a signal.
        let _ = rustix::process::set_child_subreaper(Some(here));
    }
}

/// Returns the id of the parent of a process; `None` if the process has ended or the system is not Linux.
fn parent_process_id(id: u32) -> Option<u32> {
    parse_parent_id(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
}

/// Parses the id of the parent from the status line of a process (`/proc/ID/stat`); `None` if the process has ended. State and
/// parent follow the name, which may contain spaces and parentheses (`man 5 proc_pid_stat`).
fn parse_parent_id(stat: &str) -> Option<u32> {
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let has_ended = matches!(fields.next()?, "Z" | "X");
    fields.next()?.parse().ok().filter(|_| !has_ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_a_process_follows_its_name() {
        assert_eq!(
            parse_parent_id("77 (a) b) S 12 77 77 0 -1 4194304"),
            Some(12)
        );
        assert_eq!(parse_parent_id("77 (a) Z 12 77 77 0 -1 4194304"), None);
    }

    #[test]
    fn a_family_has_children_of_children() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 60 & wait"])
            .spawn()
            .unwrap();
        let root = shell.id();
        let mut family = BTreeSet::new();
        for _ in 0..100 {
            family = descendant_process_ids(root, &mut shell);
            if family.len() > 1 {
                break;
            }
            thread::sleep(POLL_INTERVAL);
        }
        assert_eq!(family.len(), 2, "the shell and the sleeper");
        send_signal(&family, Signal::KILL);
        shell.wait().unwrap();
        assert!(descendant_process_ids(root, &mut shell).is_empty());
    }
}
