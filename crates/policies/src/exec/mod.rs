//! A policy that is an external program in any language: the program receives each barrier as a line of JSON and answers with the
//! new host of each process.
//!
//! ```text
//! to the program      {"call": 1, "protocol": 2, "routes": {...}, "superstep": 8, "speeds": [1, ...], "current": [0, 0, 1, ...], ...}
//! from the program    {"call": 1, "assignment": [0, 1, 1, ...]}
//! to the program      {"call": 2, "superstep": 16, "speeds": [1, ...], "current": [0, 1, 1, ...], ...}
//! ```
//! The line to the program has the format of `migsim snapshot`: each core of the platform appears as a host, numbered from 0, and
//! `current` has the core of each process. The answer is one line with the number of the call and the new core of each process
//! (`assignment`). In place of `assignment` it may have `placement`, the new host of each process; a process that moves then gets
//! the core of this host with the least load. Hosts are numbered from 0 in the order of the platform, as in classes of Python.
//! The answer may also have `operations`, the number of elementary operations of the decision, `gather`, its messages as in
//! `calls.jsonl`, and `words`, a remark that `migsim explain` shows. A [trigger](super::trigger) decides when the program is called.
//!
//! | key | in | content |
//! |---|---|---|
//! | `call` | each line | number of the call, from 1; the answer repeats it |
//! | `protocol` | the first line | version of this protocol, 2 |
//! | `host_of_core`, `placement` | each line | the host of each core, and of each process |
//! | `routes` | the first line | `latency` \[s\] and `bandwidth` \[B/s\] without other traffic, a row for each cluster with a value for each cluster; `clusters`, their names. A route leads from the first core of one cluster to the last core of the other; between cores of one host it takes no time. With more than 1000 clusters only the names are sent |
//! | `last_call_price` | each line | price of the last call with its moves \[s\]; 0 in the first call |
//! | `move_price` | each line | predicted price of moving each process to each cluster \[s\], a row for each process: `latency + memory / bandwidth`, as built-in strategies predict it |
//! | `superstep_times` | each line | duration of each superstep since the last call \[s\], without the price of that call |
//!
//! Later versions of migsim may add keys, which a program should ignore. Only new versions of the protocol change the meaning of
//! a key. In an answer, an unknown key is an error.
//!
//! A program whose answers have no `call` uses version 1: with at most 500 cores, each line to it has `latency` and `bandwidth` as
//! matrices of all cores. A line that no call asked for ends the run with an error, which names the last answered call. Without
//! numbers, such a line is noticed only if it arrives before the next call. After the first answer, migsim waits 0.1 s for it.
//! A later line that arrives during the next call is taken as the answer to that call. With numbers this cannot happen.
//!
//! The program is started at the first call of a scenario and answers all calls of this scenario, so that it may keep a state. At
//! the end of the scenario the program's input is closed. If the answers depend only on the input, the run can be repeated with
//! the same result. The simulated cost of a decision is declared by `operations`, 100 for each process if it is not stated: the
//! real computing time of the program never affects a run. It is only limited (`policy.exec.timeout`).
//!
//! `--policy 'exec:python3 mylb.py'` is short for the policy `exec` with the option `command`. Spaces separate the arguments,
//! except between double quotes. In a list of policies, a command with commas needs quotes: `--policies 'never,exec:./mylb
//! "1,2"'`. A program named in an experiment file is started only if the command line allows this (`--allow-exec`). `migsim
//! decide FILE --policy 'exec:./mylb'` calls a program once for a barrier from a file. The program then receives all keys but
//! `superstep`, `superstep_times`, `last_call_price`, `hosts` and the names of clusters.

mod program;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Number, Value, json};

use self::program::ExternalProgram;
pub use self::program::{is_answer_awaited, log_error_output_to};
use super::{
    Decision, Policy, PolicyOptions, View,
    balancer::{CoreNumbering, decide_by_assignment},
    probe::{add_routes_of_cores, barrier_to_json, cores_after_moves, instance_to_json},
    strategy::{Assignment, Gather, Instance},
    window::LoadWindow,
};
use migsim_base::{
    error::{Error, Problem, Result},
    random::Stream,
    units::{Seconds, Time},
    words::format_count,
};
use migsim_bsp::OPERATIONS_PER_PROCESS;

/// The name of the policy that calls an external program.
pub(super) const EXEC: &str = "exec";

/// Prefix of a policy's name before the command of an external program, as in `exec:./mylb`.
pub(super) const PREFIX: &str = "exec:";

/// Returns the command of the external program that a policy with these options calls; `None` for any other policy.
pub fn program_of<'o>(policy: &str, options: &'o Value) -> Option<&'o str> {
    options["command"].as_str().filter(|_| policy == EXEC)
}

/// Returns the name of a policy with the command of its external program, if any: `exec:./mylb`.
pub fn name_with_program(policy: &str, options: &Value) -> String {
    program_of(policy, options)
        .map_or_else(|| policy.to_owned(), |command| format!("{PREFIX}{command}"))
}

/// Maximum number of characters of an invalid answer that an error message quotes.
const MAX_QUOTED_CHARS: usize = 200;

/// Real time during which a second line may follow the first answer of a program that does not number its answers.
const SECOND_LINE_TIME: Duration = Duration::from_millis(100);

/// Version of the protocol that the first question offers.
const PROTOCOL_VERSION: u64 = 2;

/// Maximum number of clusters between which routes are sent.
const MAX_CLUSTERS: usize = 1000;

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
    /// of the program overrides this number. Without either, a decision has 100 operations for each process. The real computing
    /// time of the program does not count.
    #[serde(
        deserialize_with = "deserialize_some_operations",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub operations: Option<u64>,
    /// The maximum CPU time for an answer of the program, its threads and the programs that it starts; the run then ends
    /// with an error. A program that waits may take five times as long.
    pub timeout: Seconds,
}

impl Default for ExecOptions {
    fn default() -> Self {
        Self {
            command: String::new(),
            operations: None,
            timeout: Seconds::of(60.0),
        }
    }
}

impl PolicyOptions for ExecOptions {
    const MAIN_OPTION: &'static str = "command";
    const NEEDS_TRIGGER: bool = true;

    fn policy(self) -> Result<Box<dyn Policy>> {
        let mut problems = Vec::new();
        if self.command.trim().is_empty() {
            let problem = Problem::new("no program is named for the policy `exec`").key("command");
            problems.push(problem.hint("name the program: `--policy exec:./mylb`"));
        }
        if self.timeout.get() <= 0.0 {
            problems.push(
                Problem::new(
                "`timeout`, the longest CPU time for an answer of the program, is not above 0 s",
            )
                    .key("timeout")
                    .hint("set `timeout` to a time such as `10 s`"),
            );
        }
        Error::unless_empty(problems)?;
        Ok(Box::new(ExecPolicy {
            options: self,
            conversation: None,
            load_window: LoadWindow::default(),
            superstep_times: Vec::new(),
            last_barrier: Time::ZERO,
        }))
    }
}

/// The policy `exec`, which asks an external program, with its state.
#[derive(Debug)]
struct ExecPolicy {
    options: ExecOptions,
    /// The conversation with the running program; `None` until the first call.
    conversation: Option<Conversation>,
    load_window: LoadWindow,
    /// Durations of the supersteps since the last call \[s\].
    superstep_times: Vec<f64>,
    last_barrier: Time,
}

/// The questions and answers between a run and its external program.
#[derive(Debug)]
struct Conversation {
    program: ExternalProgram,
    /// Latency \[s\] and bandwidth \[B/s\] between clusters; `None` if they are unknown.
    routes: Option<[Vec<Vec<f64>>; 2]>,
    /// Number of questions so far.
    calls: u64,
    /// Whether the answers repeat the numbers of the calls (version 2 of the protocol).
    repeats_numbers: bool,
    /// Program and call of the last answer, for error messages.
    last_place: String,
}

/// The answer of an external program to a barrier, as parsed from a line of JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramAnswer {
    call: Option<u64>,
    /// The new core of each process.
    assignment: Option<Vec<u64>>,
    /// The new host of each process, in place of its core.
    placement: Option<Vec<u64>>,
    #[serde(default, deserialize_with = "deserialize_some_operations")]
    operations: Option<u64>,
    gather: Option<Gather>,
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
    number
        .as_u64()
        .or(of_float)
        .ok_or_else(|| D::Error::custom(message()))
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
        let price = if self.superstep_times.is_empty() {
            view.last_call_cost.get()
        } else {
            0.0
        };
        let time = view.now.get() - self.last_barrier.get() - price;
        self.superstep_times.push(time.max(0.0));
        self.last_barrier = view.now;
        false
    }

    fn decide(&mut self, view: &View<'_>, _: &mut Stream) -> Result<Decision> {
        let times = std::mem::take(&mut self.superstep_times);
        let options = &self.options;
        let conversation = &mut self.conversation;
        let assign = |instance: &Instance<'_>| {
            let mut question = barrier_to_json(instance, view);
            question["last_call_price"] = json!(view.last_call_cost.get());
            question["superstep_times"] = json!(times);
            if conversation.is_none() {
                let label = if view.executes_migrations {
                    "scenario iii: "
                } else {
                    "scenario ii: "
                };
                let clusters = view.platform.clusters.iter().map(|cluster| &cluster.name);
                question["routes"]["clusters"] = json!(clusters.collect::<Vec<_>>());
                *conversation = Some(Conversation::start(options, instance, label)?);
            }
            let place = format!(
                "{}, call after superstep {}",
                options.command,
                view.superstep + 1
            );
            let conversation = conversation.as_mut().expect("it was started");
            let hosts = CoreNumbering::from_platform(view.platform).host_indices();
            conversation.decide(options, instance, &hosts, question, &place)
        };
        decide_by_assignment(view, &mut self.load_window, true, assign)
    }

    fn uses_seed(&self) -> bool {
        false
    }
}

/// Starts an external program for one decision and returns its assignment; `instance` is the state at a barrier that was read
/// from a file, and `hosts_by_core` the host of each core.
///
/// # Errors
/// The program cannot be started, does not answer in time, or gives an invalid answer.
pub(super) fn request_assignment_once(
    command: &str,
    instance: &Instance<'_>,
    hosts_by_core: &[usize],
) -> Result<Assignment> {
    let options = ExecOptions {
        command: command.to_owned(),
        ..ExecOptions::default()
    };
    let mut conversation = Conversation::start(&options, instance, "")?;
    let place = format!("--policy {PREFIX}{command}");
    let question = instance_to_json(instance);
    conversation.decide(&options, instance, hosts_by_core, question, &place)
}

/// Rounds each number of a question to 12 digits: equal works and times stay equal, whichever way they were computed.
fn round_numbers(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(round_numbers),
        Value::Object(values) => values.values_mut().for_each(round_numbers),
        Value::Number(number) if number.is_f64() => {
            let text = format!("{:.11e}", number.as_f64().unwrap_or_default());
            *value = json!(text.parse::<f64>().unwrap_or_default());
        }
        Value::Number(_) | Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

impl Conversation {
    /// Starts the program that decides about barriers such as `instance`; `label` precedes each line of its error output.
    ///
    /// # Errors
    /// The program cannot be started.
    fn start(options: &ExecOptions, instance: &Instance<'_>, label: &'static str) -> Result<Self> {
        let program = ExternalProgram::start(&options.command, label);
        Ok(Self {
            program: program.map_err(Error::SimulationFailure)?,
            routes: routes_between_clusters(instance),
            calls: 0,
            repeats_numbers: false,
            last_place: String::new(),
        })
    }

    /// Sends a barrier to the program and returns the assignment that it answers. `place` names the program and the call.
    ///
    /// # Errors
    /// The program does not answer in time, gives an invalid answer, or printed a line that no call asked for.
    fn decide(
        &mut self,
        options: &ExecOptions,
        instance: &Instance<'_>,
        hosts_by_core: &[usize],
        mut question: Value,
        place: &str,
    ) -> Result<Assignment> {
        let failure = Error::SimulationFailure;
        if let Some(line) = self.program.next_line_within(Duration::ZERO) {
            return Err(failure(self.unasked_line_problem(&line)));
        }
        self.add_keys(&mut question, instance);
        question["host_of_core"] = json!(hosts_by_core);
        question["placement"] = instance
            .current_hosts
            .iter()
            .map(|&core| hosts_by_core[core])
            .collect();
        round_numbers(&mut question);
        let limit = Duration::from_secs_f64(options.timeout.get());
        let at_call = |problem: Problem| failure(problem.source(place));
        let program = &mut self.program;
        let line = program
            .send_and_receive_line(question.to_string(), limit, place)
            .map_err(at_call)?;
        let answer = ProgramAnswer::parse(&line.text).map_err(at_call)?;
        let mut wait = Duration::ZERO;
        match answer.call {
            Some(call) if call == self.calls => self.repeats_numbers = true,
            Some(call) if (1..self.calls).contains(&call) => {
                return Err(failure(self.unasked_line_problem(&line.text)));
            }
            None if !self.repeats_numbers && self.calls == 1 => wait = SECOND_LINE_TIME,
            None if !self.repeats_numbers => {}
            _ => return Err(at_call(wrong_number_problem(&answer, self.calls))),
        }
        place.clone_into(&mut self.last_place);
        if line.is_followed {
            wait = SECOND_LINE_TIME;
        }
        if let Some(line) = self.program.next_line_within(wait) {
            return Err(failure(self.unasked_line_problem(&line)));
        }
        parse_assignment(answer, instance, hosts_by_core, options.operations).map_err(at_call)
    }

    /// Numbers a question and adds what a barrier file does not have: prices of moves, and the routes, which version 2 of the
    /// protocol has once by cluster and version 1 in each question by core.
    fn add_keys(&mut self, question: &mut Value, instance: &Instance<'_>) {
        self.calls += 1;
        question["call"] = json!(self.calls);
        if self.calls == 1 {
            question["protocol"] = json!(PROTOCOL_VERSION);
        }
        if !self.repeats_numbers {
            add_routes_of_cores(question, instance);
        }
        let Some([latency, bandwidth]) = &self.routes else {
            return;
        };
        if self.calls == 1 {
            question["routes"]["latency"] = json!(latency);
            question["routes"]["bandwidth"] = json!(bandwidth);
        }
        let prices = instance.current_hosts.iter().enumerate().map(
            |(process, &core): (usize, &usize)| -> Vec<f64> {
                let from = instance.cluster(core);
                let size = instance
                    .process_memory
                    .get(process)
                    .map_or(0.0, |memory| memory.get());
                latency[from]
                    .iter()
                    .zip(&bandwidth[from])
                    .map(|(latency, rate)| latency + size / rate)
                    .collect()
            },
        );
        question["move_price"] = json!(prices.collect::<Vec<_>>());
    }

    /// Creates the problem of a line that no call asked for; it belongs to the last call that the program answered.
    fn unasked_line_problem(&self, line: &str) -> Problem {
        let message = format!(
            "the program of the policy printed more than one line for one barrier: `{}`",
            shorten(line)
        );
        self.program.problem_with_error_output(&message).source(&self.last_place).hint(
            "let the program print one line for each barrier, and write other texts to its error output",
        )
    }
}

/// Returns the latency \[s\] and bandwidth \[B/s\] from the first core of each cluster to the last core of each cluster.
fn routes_between_clusters(instance: &Instance<'_>) -> Option<[Vec<Vec<f64>>; 2]> {
    let paths = instance.host_paths?;
    let mut ends: Vec<(usize, usize)> = Vec::new();
    for core in 0..instance.host_count() {
        let cluster = instance.cluster(core);
        if cluster >= ends.len() {
            ends.resize(cluster + 1, (core, core));
        }
        ends[cluster].1 = core;
    }
    let grid = |value: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
        ends.iter()
            .map(|&(from, _)| ends.iter().map(|&(_, to)| value(from, to)).collect())
            .collect()
    };
    (ends.len() <= MAX_CLUSTERS).then(|| {
        [
            grid(&|from, to| paths.latency(from, to).get()),
            grid(&|from, to| paths.bandwidth(from, to).get()),
        ]
    })
}

/// Returns the first characters of an answer, for a quotation in an error message.
fn shorten(answer: &str) -> String {
    answer.trim_end().chars().take(MAX_QUOTED_CHARS).collect()
}

fn wrong_number_problem(answer: &ProgramAnswer, call: u64) -> Problem {
    let found = answer
        .call
        .map_or("no `call`".to_owned(), |found| format!("`call` {found}"));
    Problem::new(format!(
        "the answer of the policy's program has {found}, but this is call {call}"
    ))
    .hint("let the program repeat `call` of the barrier in its answer")
}

impl ProgramAnswer {
    fn parse(line: &str) -> Result<Self, Problem> {
        let line = line.trim_start_matches('\u{feff}'); // a byte-order mark
        serde_json::from_str(line).map_err(|error| {
            Problem::new(format!(
                "the program of the policy answered `{}`, which is not valid: {error}",
                shorten(line)
            ))
            .hint("let the program print one line: {\"call\": 1, \"assignment\": [0, 1, ...]}")
        })
    }
}

/// Converts an answer of the program into an assignment of processes to cores. `operations` is the cost of the decision if the
/// answer states none; `None` stands for the same number for each process as of policies that count no operations.
fn parse_assignment(
    read: ProgramAnswer,
    instance: &Instance<'_>,
    hosts_by_core: &[usize],
    operations: Option<u64>,
) -> Result<Assignment, Problem> {
    let (key, place, numbers, count) = match (read.assignment, read.placement) {
        (Some(cores), None) => ("assignment", "core", cores, instance.host_count()),
        (None, Some(hosts)) => {
            let count = hosts_by_core.last().map_or(0, |last| last + 1);
            ("placement", "host", hosts, count)
        }
        _ => {
            let message = "the answer of the policy's program needs `assignment` or `placement`, and not both";
            let hint = "let the program write the new core of each process in `assignment`, or its new host in `placement`";
            return Err(Problem::new(message).hint(hint));
        }
    };
    let found = numbers.len();
    let processes = instance.process_count();
    if found != processes {
        let message = format!(
            "the program of the policy assigned {place}s to {}, but the barrier has {processes}",
            format_count(found, "process")
        );
        return Err(Problem::new(message).hint(format!(
            "let the program write one {place} in `{key}` for each entry of `current`"
        )));
    }
    let known = |(process, &number): (usize, &u64)| {
        let known = usize::try_from(number).ok().filter(|known| *known < count);
        known.ok_or_else(|| {
            let message = format!(
                "the program of the policy answered `{key}[{process}]` = {number}, but the barrier has no {place} {number}"
            );
            let last = count.saturating_sub(1);
            Problem::new(message).hint(format!("let the program write {place}s from 0 to {last}"))
        })
    };
    let places = numbers.iter().enumerate().map(known);
    let mut places: Vec<usize> = places.collect::<Result<_, _>>()?;
    if key == "placement" {
        let moves = places
            .iter()
            .copied()
            .enumerate()
            .filter(|&(process, host)| hosts_by_core[instance.current_hosts[process]] != host);
        places = cores_after_moves(instance, hosts_by_core, moves);
    }
    let stated = read.operations.or(operations);
    let guessed = OPERATIONS_PER_PROCESS * places.len() as u64;
    let mut assignment = Assignment::from_central_decision(places, stated.unwrap_or(guessed));
    assignment.communication_pattern = read.gather.unwrap_or(assignment.communication_pattern);
    assignment.remarks.extend(read.words);
    Ok(assignment)
}

#[cfg(test)]
mod tests;
