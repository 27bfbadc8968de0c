//! A policy that is an external program in any language: the program receives each barrier as a line of JSON and answers with the
//! new host of each process.
//!
//! ```text
//! to the program      {"superstep": 8, "speeds": [1e9, ...], "current": [0, 0, 1, ...], "work": [...], ...}
//! from the program    {"assignment": [0, 1, 1, ...]}
//! ```
//! The line to the program has the format of `migsim snapshot`: each core of the platform appears as a host, numbered from 0, and
//! `current` has the core of each process. The answer is one line with the new core of each process. The answer may also have
//! `operations`, the number of elementary operations of the decision, and `words`, a remark that `migsim explain` shows. A
//! [trigger](super::trigger) decides when the program is called.
//!
//! The program is started at the first call of a run and answers all calls of that run, so that it may keep a state. At the end
//! of the run the program's input is closed. If the answers depend only on the input, the run can be repeated with the same
//! result. The simulated cost of a decision is declared by `operations`: the real computing time of the program never affects a
//! run.
//!
//! `--policy 'exec:python3 mylb.py'` is short for the policy `exec` with the option `command`. Spaces separate the arguments,
//! except between double quotes. In a list of policies, a command with commas needs quotes: `--policies 'never,exec:./mylb
//! "1,2"'`. A program named in an experiment file is started only if the command line allows this (`--allow-exec`). `migsim
//! decide FILE --policy 'exec:./mylb'` calls a program once for a barrier from a file. The program then receives all fields but
//! `superstep` and `hosts`.

mod program;

use std::time::Duration;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value};

use self::program::ExternalProgram;
use super::balancer::decide_by_assignment;
use super::probe::{barrier_to_json, instance_to_json};
use super::strategy::{Assignment, Instance};
use super::window::LoadWindow;
use super::{Decision, Policy, PolicyOptions, View};
use migsim_base::error::{Error, Problem};
use migsim_base::random::Stream;
use migsim_base::units::Seconds;
use migsim_base::words::format_count;

/// The name of the policy that calls an external program.
pub const EXEC: &str = "exec";

/// Prefix of a policy's name before the command of an external program, as in `exec:./mylb`.
pub const PREFIX: &str = "exec:";

/// Maximum number of characters of an invalid answer that an error message quotes.
const MAX_QUOTED_CHARS: usize = 200;

/// Returns whether settings in JSON may start an external program, because a text or key in them contains the word `exec`.
pub fn mentions_exec(settings: &Value) -> bool {
    let has_word = |text: &str| {
        let mut words = text.split(|letter: char| !letter.is_alphanumeric());
        words.any(|word| word == EXEC)
    };
    match settings {
        Value::String(text) => has_word(text),
        Value::Array(list) => list.iter().any(mentions_exec),
        Value::Object(keys) => keys
            .iter()
            .any(|(key, value)| has_word(key) || mentions_exec(value)),
        _ => false,
    }
}

/// The options of the policy `exec`, which calls an external program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExecOptions {
    /// The program and its arguments, separated by spaces. An argument with spaces or commas must be in double quotes.
    pub command: String,
    /// The simulated cost of a decision as a number of elementary operations of 10 instructions each; `operations` in the answer
    /// of the program overrides this number. The real computing time of the program does not count.
    #[serde(deserialize_with = "deserialize_operations")]
    #[schemars(with = "u64")]
    pub operations: u64,
    /// The maximum real time to wait for an answer of the program; after this time the run ends with an error.
    pub timeout: Seconds,
}

impl Default for ExecOptions {
    fn default() -> Self {
        Self {
            command: String::new(),
            operations: 0,
            timeout: Seconds::of(60.0),
        }
    }
}

impl PolicyOptions for ExecOptions {
    const NEEDS_TRIGGER: bool = true;

    fn policy(self) -> Result<Box<dyn Policy>, Error> {
        let mut problems = Vec::new();
        if self.command.trim().is_empty() {
            let problem = Problem::new("no program is named for the policy `exec`").key("command");
            problems.push(problem.hint("name the program: `--policy exec:./mylb`"));
        }
        if self.timeout.get() <= 0.0 {
            let problem = Problem::new(
                "`timeout`, the longest time to wait for an answer of the program, is not above 0 s",
            );
            problems.push(
                problem
                    .key("timeout")
                    .hint("set `timeout` to a time such as `10 s`"),
            );
        }
        if !problems.is_empty() {
            return Err(Error::Input(problems));
        }
        Ok(Box::new(ExecPolicy {
            options: self,
            program: None,
            load_window: LoadWindow::default(),
        }))
    }
}

/// The policy `exec`, which asks an external program, with its state.
#[derive(Debug)]
struct ExecPolicy {
    options: ExecOptions,
    /// The running program; `None` until the first call.
    program: Option<ExternalProgram>,
    load_window: LoadWindow,
}

/// The answer of an external program to a barrier, as parsed from a line of JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramAnswer {
    assignment: Vec<u64>,
    #[serde(default, deserialize_with = "deserialize_some_operations")]
    operations: Option<u64>,
    #[serde(default)]
    words: Option<String>,
}

/// Deserializes a number of operations; a float without a fraction (`1e9`) is accepted like a whole number.
fn deserialize_operations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    /// Largest whole number (2^53) up to which a float represents every whole number exactly.
    const MAX_EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;
    let number = Number::deserialize(deserializer)?;
    let float = number.as_f64().filter(|float| float.fract() == 0.0);
    let float = float.filter(|float| (0.0..=MAX_EXACT_FLOAT).contains(float));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number within the range"
    )]
    let of_float = float.map(|float| float as u64);
    let message = || format!("`operations` is {number}; it must be a whole number from 0 to 2^53");
    (number.as_u64().or(of_float)).ok_or_else(|| D::Error::custom(message()))
}

/// Deserializes a number of operations for an optional field, if the field is present.
fn deserialize_some_operations<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    deserialize_operations(deserializer).map(Some)
}

impl Policy for ExecPolicy {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.load_window.observe(view, true);
        false
    }

    fn decide(&mut self, view: &View<'_>, _: &mut Stream) -> Result<Decision, Error> {
        let (options, program) = (&self.options, &mut self.program);
        let assign = |instance: &Instance<'_>| {
            let asked = barrier_to_json(instance, view).to_string();
            let answered = request_answer(options, program, asked);
            let assigned =
                answered.and_then(|answer| parse_assignment(&answer, instance, options.operations));
            assigned.map_err(|problem| {
                let command = &options.command;
                let place = format!("{command}, call after superstep {}", view.superstep + 1);
                Error::SimulationFailure(problem.source(place))
            })
        };
        decide_by_assignment(view, &mut self.load_window, true, assign)
    }

    fn uses_seed(&self) -> bool {
        false
    }
}

/// Starts an external program for one decision and returns its assignment; `instance` is the state at a barrier that was read
/// from a file.
///
/// # Errors
/// The program cannot be started, does not answer in time, or gives an invalid answer.
pub(super) fn request_assignment_once(
    command: &str,
    instance: &Instance<'_>,
) -> Result<Assignment, Error> {
    let options = ExecOptions {
        command: command.to_owned(),
        ..ExecOptions::default()
    };
    let answered = request_answer(&options, &mut None, instance_to_json(instance).to_string());
    let assigned =
        answered.and_then(|answer| parse_assignment(&answer, instance, options.operations));
    assigned.map_err(|problem| {
        Error::SimulationFailure(problem.source(format!("--policy {PREFIX}{command}")))
    })
}

/// Sends a barrier to the program and returns the program's answer, after starting the program if it is not running. `asked` is
/// the barrier as a line of JSON.
fn request_answer(
    options: &ExecOptions,
    program: &mut Option<ExternalProgram>,
    asked: String,
) -> Result<String, Problem> {
    let program = match program {
        Some(program) => program,
        None => program.insert(ExternalProgram::start(&options.command)?),
    };
    program.send_and_receive_line(asked, Duration::from_secs_f64(options.timeout.get()))
}

/// Checks an answer of the program and converts it into an assignment of processes to hosts. `operations` is the cost of the
/// decision if the answer states none.
fn parse_assignment(
    answer: &str,
    instance: &Instance<'_>,
    operations: u64,
) -> Result<Assignment, Problem> {
    let read: ProgramAnswer = serde_json::from_str(answer).map_err(|error| {
        let quoted: String = answer.chars().take(MAX_QUOTED_CHARS).collect();
        let message =
            format!("the program of the policy answered `{quoted}`, which is not valid: {error}");
        Problem::new(message).hint("let the program print one line: {\"assignment\": [0, 1, ...]}")
    })?;
    let (processes, hosts) = (instance.process_count(), instance.host_count());
    let found = read.assignment.len();
    if found != processes {
        let message = format!(
            "the program of the policy assigned hosts to {}, but the barrier has {processes}",
            format_count(found, "process")
        );
        return Err(Problem::new(message)
            .hint("let the program write one host in `assignment` for each entry of `current`"));
    }
    let host = |(process, &number): (usize, &u64)| {
        let host = usize::try_from(number).ok().filter(|host| *host < hosts);
        host.ok_or_else(|| {
            let message = format!(
                "the program of the policy answered `assignment[{process}]` = {number}, but the barrier has no host {number}"
            );
            let last = hosts.saturating_sub(1);
            Problem::new(message).hint(format!("let the program write hosts from 0 to {last}"))
        })
    };
    let places = read.assignment.iter().enumerate().map(host);
    let places = places.collect::<Result<_, _>>()?;
    let mut assignment =
        Assignment::from_central_decision(places, read.operations.unwrap_or(operations));
    assignment.remarks.extend(read.words);
    Ok(assignment)
}

#[cfg(test)]
mod tests;
