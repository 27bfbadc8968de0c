//! A started external program that answers each line of input with one line of output.
//!
//! Three threads connect the run and the program: one writes the program's input, one reads the program's answers, and one stores
//! the end of the program's error output. Therefore a program that reads nothing, writes nothing or writes too much cannot block
//! a run for longer than the time limit.
//!
//! The program leads its own process group (of the operating system), so that stopping the program also stops all programs
//! started by it. A guard in this group, a shell that waits for an input that never comes, kills the group when the simulator's
//! process ends. Therefore a simulator that is killed leaves no program running.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use migsim_base::error::Problem;
use rustix::process::{Pid, Signal, kill_process_group};

/// Maximum size of one answer of the external program \[B\].
const MAX_ANSWER_SIZE: u64 = 64 << 20;

/// Maximum size of the part of a program's error output that an error message quotes \[B\].
const MAX_ERROR_OUTPUT: usize = 400;

/// Maximum number of checks whether a program has ended after its input was closed, and the real time between two checks.
const END_CHECKS: (u32, Duration) = (100, Duration::from_millis(5));

/// A started external program, with the channels to the threads that write its input and read its output.
#[derive(Debug)]
pub(super) struct ExternalProgram {
    child: Child,
    /// Channel to the thread that writes lines to the program's input; `None` after the input was closed.
    input_sender: Option<SyncSender<String>>,
    /// Channel from the thread that reads lines from the program's output; an empty line stands for the end of the output.
    answer_receiver: Receiver<io::Result<String>>,
    error_output: Arc<Mutex<Vec<u8>>>,
    /// The thread that stores the last part of the program's error output in `error_output`.
    error_reader: Option<JoinHandle<()>>,
    /// The shell that kills the process group of the program when the simulator ends; `None` if the shell could not be started.
    guard_process: Option<Child>,
}

impl ExternalProgram {
    /// Starts the program of a command, with the threads that write the program's input and read its output.
    ///
    /// # Errors
    /// The program does not exist, or may not be started.
    pub(super) fn start(command: &str) -> Result<Self, Problem> {
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
                    let is_end = !matches!(&line, Ok(line) if !line.is_empty());
                    if said.send(line).is_err() || is_end {
                        return;
                    }
                }
            });
        }
        let words = Arc::default();
        let listener = child.stderr.take().map(|stderr| {
            let kept = Arc::clone(&words);
            thread::spawn(move || store_last_error_output(stderr, &kept))
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

    /// Sends a line to the program and returns the line with which the program answers, waiting at most for the time `limit`.
    ///
    /// # Errors
    /// The answer is too late, too long or missing, or the program has written a line without a request.
    pub(super) fn send_and_receive_line(
        &mut self,
        mut line: String,
        limit: Duration,
    ) -> Result<String, Problem> {
        if let Ok(Ok(early)) = self.answer_receiver.try_recv()
            && !early.is_empty()
        {
            let message = format!(
                "the program of the policy printed more than one line for one barrier: `{}`",
                shorten_for_message(&early)
            );
            let problem = self.problem_with_error_output(&message);
            return Err(problem.hint(
                "let the program print one line for each barrier, and write other texts to its error output",
            ));
        }
        line.push('\n');
        if let Some(input) = &self.input_sender {
            // The writing thread ends only if the program has ended.
            let _ = input.try_send(line);
        }
        match self.answer_receiver.recv_timeout(limit) {
            Ok(Ok(answer)) if !answer.is_empty() => Ok(answer.trim_end().to_owned()),
            Ok(Err(error)) => {
                let message = format!("the answer of the policy's program {error}");
                let problem = self.problem_with_error_output(&message);
                Err(problem.hint("let the program print one short line of JSON in UTF-8"))
            }
            Err(RecvTimeoutError::Timeout) => {
                let message = format!(
                    "the program of the policy did not answer within {} s",
                    limit.as_secs_f64()
                );
                let problem = self.problem_with_error_output(&message);
                Err(problem
                    .hint("make the program faster, or set `policy.exec.timeout` to a longer time"))
            }
            Ok(Ok(_)) | Err(RecvTimeoutError::Disconnected) => {
                let status = self.kill_and_describe_status();
                let message =
                    format!("the program of the policy ended before it answered ({status})");
                let problem = self.problem_with_error_output(&message);
                Err(problem.hint("let the program read and answer lines until its input ends"))
            }
        }
    }

    /// Returns a problem with this message, followed by the last part of the program's error output.
    fn problem_with_error_output(&self, message: &str) -> Problem {
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

    /// Ends the program and all other processes of its process group, and returns the exit status of the program as a text.
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
    let (mut words, mut word, mut is_quoted) = (Vec::new(), None, false);
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

/// Returns at most the first 400 characters of a text, for a quotation in an error message.
fn shorten_for_message(text: &str) -> String {
    text.trim_end().chars().take(MAX_ERROR_OUTPUT).collect()
}

/// Reads the next line of the program's output; returns an empty text at the end of the output.
///
/// # Errors
/// The line is too long, is not UTF-8, or cannot be read.
fn read_answer_line(output: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    output.take(MAX_ANSWER_SIZE).read_until(b'\n', &mut line)?;
    if line.len() as u64 == MAX_ANSWER_SIZE {
        return Err(io::Error::other(format!(
            "is longer than {MAX_ANSWER_SIZE} B"
        )));
    }
    String::from_utf8(line).map_err(|_| io::Error::other("is not UTF-8"))
}

/// Reads the error output of a program until this output ends, and stores the last part in `kept`.
fn store_last_error_output(mut output: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = output.read(&mut buffer) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..count]);
        let surplus = kept.len().saturating_sub(MAX_ERROR_OUTPUT);
        kept.drain(..surplus);
    }
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
