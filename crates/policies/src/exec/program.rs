//! A started external program that answers each line of input with one line of output.
//!
//! Three threads connect the run and the program: one writes the program's input, one reads the program's answers, and one passes
//! the program's error output on. Therefore a program that reads nothing, writes nothing or writes too much cannot block
//! a run for longer than the time limit.
//!
//! The program leads its own process group (of the operating system), so that stopping the program also stops all programs
//! started by it. A guard in this group, a shell that waits for an input that never comes, kills the group when the simulator's
//! process ends. Therefore a simulator that is killed leaves no program running.

use std::{
    collections::BTreeSet,
    fs::OpenOptions,
    io::{self, BufRead, BufReader, IsTerminal as _, Read, Write},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use migsim_base::error::Problem;
use rustix::process::{Pid, Signal, kill_process_group};

/// Maximum size of one answer of the external program \[B\].
const MAX_ANSWER_SIZE: u64 = 64 << 20;

/// Maximum size of the part of a program's error output that an error message quotes \[B\].
const MAX_ERROR_OUTPUT: usize = 400;

/// Real time without an answer after which a note names the program.
const NOTE_AFTER: Duration = Duration::from_secs(5);

/// Maximum real time for an answer, relative to the maximum CPU time: a program that waits uses none.
const MAX_REAL_TIME_FACTOR: u32 = 5;

/// Number of answers for which runs wait at present.
static AWAITED_ANSWERS: AtomicUsize = AtomicUsize::new(0);

/// The file to which the error output of all programs is appended; `None` stands for the error output of this process.
static ERROR_LOG: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Returns whether a run waits for the answer of an external program, so that its progress says nothing about its end.
pub fn is_answer_awaited() -> bool {
    AWAITED_ANSWERS.load(Ordering::Relaxed) > 0
}

/// Appends the error output of external programs to the file `path` from now on, instead of writing it to the error output of
/// this process. The file is created when a program writes something.
pub fn log_error_output_to(path: PathBuf) {
    *ERROR_LOG.lock().unwrap_or_else(PoisonError::into_inner) = Some(path);
}

#[derive(Debug)]
pub(super) struct OutputLine {
    /// The line with its line end; empty at the end of the output.
    pub text: String,
    /// Whether more output arrived together with this line.
    pub is_followed: bool,
}

/// Maximum number of checks whether a program has ended after its input was closed, and the real time between two checks.
const END_CHECKS: (u32, Duration) = (100, Duration::from_millis(5));

#[derive(Debug)]
pub(super) struct ExternalProgram {
    child: Child,
    /// Channel to the thread that writes lines to the program's input; `None` after the input was closed.
    input_sender: Option<SyncSender<String>>,
    answer_receiver: Receiver<io::Result<OutputLine>>,
    error_output: Arc<Mutex<Vec<u8>>>,
    error_reader: Option<JoinHandle<()>>,
    /// The shell that kills the process group of the program when the simulator ends; `None` if the shell could not be started.
    guard_process: Option<Child>,
}

impl ExternalProgram {
    /// Starts the program of a command, with the threads that write the program's input and read its output. Each line of its
    /// error output is passed on after `label`.
    ///
    /// # Errors
    /// The program does not exist, or may not be started.
    pub(super) fn start(command: &str, label: &'static str) -> Result<Self, Problem> {
        let cannot = |error: io::Error| {
            let message = format!("cannot start `{command}`, the program of the policy: {error}");
            Problem::new(message).hint(
                "check that the file exists and is executable, and name its path: `exec:./mylb`",
            )
        };
        let mut parts = split_command(command).into_iter();
        let mut child = Command::new(parts.next().unwrap_or_default())
            .args(parts)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(cannot)?;
        let guard = start_guard_process(&child);
        let (input, lines) = sync_channel::<String>(1);
        if let Some(mut stdin) = child.stdin.take() {
            thread::spawn(move || {
                // A program that has ended is noticed when its answer is missing.
                let mut write = |line: String| stdin.write_all(line.as_bytes()).is_ok();
                while lines.recv().is_ok_and(&mut write) {}
            });
        }
        let (said, answers) = sync_channel(1);
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                let mut stdout = BufReader::new(stdout);
                loop {
                    let line = read_answer_line(&mut stdout);
                    let is_end = !matches!(&line, Ok(line) if !line.text.is_empty());
                    if said.send(line).is_err() || is_end {
                        return;
                    }
                }
            });
        }
        let words = Arc::default();
        let listener = child.stderr.take().map(|stderr| {
            let kept = Arc::clone(&words);
            thread::spawn(move || pass_error_output_on(stderr, label, &kept))
        });
        Ok(Self {
            child,
            input_sender: Some(input),
            answer_receiver: answers,
            error_output: words,
            error_reader: listener,
            guard_process: guard,
        })
    }

    pub(super) fn next_line_within(&self, wait: Duration) -> Option<String> {
        let line = self.answer_receiver.recv_timeout(wait).ok()?.ok()?.text;
        (!line.is_empty()).then_some(line)
    }

    /// Sends a line to the program and returns the line with which the program answers. The program may use the CPU time
    /// `limit`, or wait for a multiple of it. `place` names the call in a note to the user.
    ///
    /// # Errors
    /// The answer is too late, too long or missing.
    pub(super) fn send_and_receive_line(
        &mut self,
        mut line: String,
        limit: Duration,
        place: &str,
    ) -> Result<OutputLine, Problem> {
        line.push('\n');
        if let Some(input) = &self.input_sender {
            // The writing thread ends only if the program has ended.
            let _ = input.try_send(line);
        }
        match self.wait_for_answer(limit, place)? {
            Some(Ok(answer)) if !answer.text.is_empty() => Ok(answer),
            Some(Err(error)) => {
                let message = format!("the answer of the policy's program {error}");
                let problem = self.problem_with_error_output(&message);
                Err(problem.hint("let the program print one short line of JSON in UTF-8"))
            }
            Some(Ok(_)) | None => {
                let status = self.kill_and_describe_status();
                let message =
                    format!("the program of the policy ended before it answered ({status})");
                let problem = self.problem_with_error_output(&message);
                Err(problem.hint("let the program read and answer lines until its input ends"))
            }
        }
    }

    /// Waits for the next line of the program's output, and prints a note if it takes long. Returns `None` at the end of the
    /// output.
    ///
    /// # Errors
    /// The program has used more CPU time than `limit`, or the line is late by several times `limit`.
    fn wait_for_answer(
        &self,
        limit: Duration,
        place: &str,
    ) -> Result<Option<io::Result<OutputLine>>, Problem> {
        let pause = (limit / 10).clamp(Duration::from_millis(10), Duration::from_millis(500));
        let first = self.answer_receiver.recv_timeout(pause);
        if !matches!(first, Err(RecvTimeoutError::Timeout)) {
            return Ok(first.ok());
        }
        AWAITED_ANSWERS.fetch_add(1, Ordering::Relaxed);
        let answer = self.wait_longer(limit, pause, place);
        AWAITED_ANSWERS.fetch_sub(1, Ordering::Relaxed);
        answer
    }

    fn wait_longer(
        &self,
        limit: Duration,
        pause: Duration,
        place: &str,
    ) -> Result<Option<io::Result<OutputLine>>, Problem> {
        #[expect(clippy::disallowed_methods, reason = "only the program is timed")]
        let start = Instant::now();
        let used_before = self.processor_time();
        loop {
            let received = self.answer_receiver.recv_timeout(pause);
            if !matches!(received, Err(RecvTimeoutError::Timeout)) {
                return Ok(received.ok());
            }
            let waited = start.elapsed() + pause;
            if waited >= NOTE_AFTER {
                print_note_once(place);
            }
            let used = self
                .processor_time()
                .zip(used_before)
                .map_or(waited, |(now, before)| now.saturating_sub(before));
            let too_long = if used > limit {
                format!("{} s of CPU time", limit.as_secs_f64())
            } else if waited > limit * MAX_REAL_TIME_FACTOR {
                format!("{} s", (limit * MAX_REAL_TIME_FACTOR).as_secs_f64())
            } else {
                continue;
            };
            let message = format!("the program of the policy did not answer within {too_long}");
            return Err(self.problem_with_error_output(&message).hint(
                "let the program flush its output after each answer, or set `policy.exec.timeout` (in `migsim bench`, `--timeout`) to a longer time",
            ));
        }
    }

    /// Returns the CPU time that the process group of the program has used so far, or `None` if the system does not report
    /// it in `/proc`.
    fn processor_time(&self) -> Option<Duration> {
        /// Clock ticks per second in `/proc`, the same on all architectures of Linux.
        const TICKS_PER_SECOND: u64 = 100;
        let group = self.child.id().to_string();
        let ticks_of = |entry: io::Result<std::fs::DirEntry>| {
            let stat = std::fs::read_to_string(entry.ok()?.path().join("stat")).ok()?;
            // After the name in parentheses: state, parent, group (2); times of the process and its ended children (11 to 14).
            let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
            let is_own = *fields.get(2)? == group;
            let times = fields
                .get(11..15)?
                .iter()
                .map(|ticks| ticks.parse::<u64>().ok());
            is_own.then(|| times.sum::<Option<u64>>())?
        };
        let own: Vec<u64> = std::fs::read_dir("/proc")
            .ok()?
            .filter_map(ticks_of)
            .collect();
        let ticks: u64 = own.iter().sum();
        (!own.is_empty()).then(|| Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
    }

    pub(super) fn problem_with_error_output(&self, message: &str) -> Problem {
        let words = self
            .error_output
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let words = String::from_utf8_lossy(&words).trim().to_owned();
        if words.is_empty() {
            return Problem::new(message);
        }
        Problem::new(format!(
            "{message}; the error output of the program ends with: {words}"
        ))
    }

    fn kill_and_describe_status(&mut self) -> String {
        let status = self.stop_and_describe_status();
        if let Some(mut guard) = self.guard_process.take() {
            let _ = guard.wait(); // closes its input
        }
        status
    }

    /// Closes the program's input, waits briefly for the program to end, and kills its process group if it does not end. Returns
    /// the exit status of the program as a text.
    fn stop_and_describe_status(&mut self) -> String {
        self.input_sender = None;
        let (looks, pause) = END_CHECKS;
        for _ in 0..looks {
            let is_heard = self
                .error_reader
                .as_ref()
                .is_none_or(JoinHandle::is_finished);
            match self.child.try_wait() {
                Ok(Some(status)) if is_heard => return status.to_string(),
                _ => thread::sleep(pause),
            }
        }
        let ended = self.child.try_wait();
        // The group may have ended in the meantime.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        if let Ok(Some(status)) = ended {
            return status.to_string(); // a program that it started went on
        }
        let _ = self.child.wait();
        "the program closed its output, and migsim stopped the program".into()
    }
}

impl Drop for ExternalProgram {
    fn drop(&mut self) {
        self.kill_and_describe_status();
    }
}

/// Starts the shell that kills the process group of `leader` when the simulator ends; returns `None` if it cannot be started.
fn start_guard_process(leader: &Child) -> Option<Child> {
    let mut command = Command::new("sh");
    command.args(["-c", "read -r line; kill -KILL 0"]);
    command.process_group(i32::try_from(leader.id()).ok()?);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command.stderr(Stdio::null()).spawn().ok()
}

/// Splits a command into the program and its arguments at spaces, except between double quotes.
fn split_command(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = None;
    let mut is_quoted = false;
    for letter in command.chars() {
        match letter {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_with(String::new);
            }
            space if space.is_whitespace() && !is_quoted => words.extend(word.take()),
            letter => word.get_or_insert_with(String::new).push(letter),
        }
    }
    words.extend(word);
    words
}

fn print_note_once(place: &str) {
    static NOTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let (program, call) = place.rsplit_once(", ").unwrap_or((place, "call"));
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !noted.insert(program.to_owned()) {
        return;
    }
    let mut errors = io::stderr();
    let clear = if errors.is_terminal() {
        "\r\x1b[2K"
    } else {
        ""
    }; // a progress bar
    let _ = writeln!(
        errors,
        "{clear}note: waiting for the answer of `{program}` to the {call}; if the program has printed it, let it flush its output after each answer"
    );
}

/// Reads the next line of the program's output; returns an empty text at the end of the output.
///
/// # Errors
/// The line is too long, is not UTF-8, or cannot be read.
fn read_answer_line(output: &mut BufReader<impl Read>) -> io::Result<OutputLine> {
    let mut line = Vec::new();
    output
        .by_ref()
        .take(MAX_ANSWER_SIZE)
        .read_until(b'\n', &mut line)?;
    if line.len() as u64 == MAX_ANSWER_SIZE {
        return Err(io::Error::other(format!(
            "is longer than {MAX_ANSWER_SIZE} B"
        )));
    }
    let text = String::from_utf8(line).map_err(|_| io::Error::other("is not UTF-8"))?;
    Ok(OutputLine {
        text,
        is_followed: !output.buffer().is_empty(),
    })
}

/// Reads the error output of a program until this output ends, writes its lines after `label` to the log or to the error output
/// of this process, and stores the last part in `kept`.
fn pass_error_output_on(mut output: impl Read, label: &str, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    let mut is_line_start = true;
    while let Ok(count @ 1..) = output.read(&mut buffer) {
        let mut shown = Vec::new();
        for line in buffer[..count].split_inclusive(|byte| *byte == b'\n') {
            if is_line_start {
                shown.extend_from_slice(label.as_bytes());
            }
            shown.extend_from_slice(line);
            is_line_start = line.ends_with(b"\n");
        }
        write_error_output(&shown);
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..count]);
        let surplus = kept.len().saturating_sub(MAX_ERROR_OUTPUT);
        kept.drain(..surplus);
    }
}

fn write_error_output(text: &[u8]) {
    let log = ERROR_LOG.lock().unwrap_or_else(PoisonError::into_inner);
    let open = |path| OpenOptions::new().create(true).append(true).open(path);
    // A run does not depend on what its program remarks.
    let _ = match log.as_ref().map(open) {
        Some(Ok(mut file)) => file.write_all(text),
        _ => io::stderr().write_all(text),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_divide_a_command_except_between_quotes() {
        assert_eq!(
            split_command("  ./mylb --levels \"1, 2\"  a\"b c\" \"\""),
            ["./mylb", "--levels", "1, 2", "ab c", ""]
        );
        assert_eq!(split_command(" "), [""; 0]);
    }
}
